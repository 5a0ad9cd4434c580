// Prints what libsdformat reads of a file: links with mass and pose, joints with limits and axis, in the model's frame.
#include <iomanip>
#include <iostream>
#include <limits>
#include <sdf/sdf.hh>

static void tell(const sdf::Errors &errors)
{
  for (const auto &error : errors)
    std::cout << "error\t" << error.Message() << "\n";
}

static void print(const sdf::Model &model)
{
  for (uint64_t i = 0; i < model.LinkCount(); ++i)
  {
    const auto *link = model.LinkByIndex(i);
    ignition::math::Pose3d pose;
    tell(link->SemanticPose().Resolve(pose, "__model__"));
    std::cout << "link\t" << model.Name() << "\t" << link->Name() << "\t" << link->Inertial().MassMatrix().Mass();
    for (double value : {pose.X(), pose.Y(), pose.Z(), pose.Rot().W(), pose.Rot().X(), pose.Rot().Y(), pose.Rot().Z()})
      std::cout << "\t" << value;
    std::cout << "\n";
    if (!link->Inertial().MassMatrix().IsValid())
      std::cout << "error\tinertia of " << link->Name() << "\n";
  }
  for (uint64_t i = 0; i < model.JointCount(); ++i)
  {
    const auto *joint = model.JointByIndex(i);
    const auto *axis = joint->Axis(0);
    if (axis == nullptr)
      continue;
    ignition::math::Vector3d xyz;
    tell(axis->ResolveXyz(xyz, "__model__"));
    std::cout << "joint\t" << model.Name() << "\t" << joint->Name();
    for (double value : {axis->Lower(), axis->Upper(), axis->MaxVelocity(), axis->Effort(), xyz.X(), xyz.Y(), xyz.Z()})
      std::cout << "\t" << value;
    std::cout << "\n";
  }
}

int main(int count, char **words)
{
  std::cout << std::setprecision(std::numeric_limits<double>::max_digits10);
  sdf::Root root;
  tell(root.Load(count > 1 ? words[1] : ""));
  if (root.Model() != nullptr)
    print(*root.Model());
  for (uint64_t w = 0; w < root.WorldCount(); ++w)
    for (uint64_t m = 0; m < root.WorldByIndex(w)->ModelCount(); ++m)
      print(*root.WorldByIndex(w)->ModelByIndex(m));
}
