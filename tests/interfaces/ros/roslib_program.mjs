// A program with roslib, as a page or a Node program has it: does what it is told, and prints what it gets as JSON.
import { Param, Ros, Service, Topic } from "roslib";

const [url, robot] = process.argv.slice(2);
const ros = new Ros({ url });
const promised = (call) => new Promise((done, failed) => call(done, failed));
const topic = (name, messageType, more = {}) => new Topic({ ros, name, messageType, ...more });
const once = (one) => promised((done) => one.subscribe((message) => (one.unsubscribe(), done(message))));

function frequency(one, seconds) {
  return promised((done) => {
    let count = 0;
    one.subscribe(() => (count += 1));
    setTimeout(() => (one.unsubscribe(), done(count / seconds)), seconds * 1000);
  });
}

await promised((done, failed) => (ros.on("connection", done), ros.on("error", failed)));
const odometry = topic(`/${robot}/odom`, "nav_msgs/Odometry", { compression: "cbor" });
const before = await once(odometry);
const speeds = topic(`${robot}/cmd_vel`, "geometry_msgs/Twist");
speeds.publish({ linear: { x: 0.05, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } });
const hertz = await frequency(topic(`/${robot}/odom`, "nav_msgs/Odometry"), 1);
const throttled = await frequency(topic(`/${robot}/odom`, "nav_msgs/Odometry", { throttle_rate: 250 }), 1);
const after = await once(odometry);
const image = await once(topic(`/${robot}/camera`, "sensor_msgs/Image", { compression: "cbor" }));
const picture = await once(topic(`/${robot}/camera`, "sensor_msgs/Image"));
const add = new Service({ ros, name: "/add_two_ints", serviceType: "rospy_tutorials/AddTwoInts" });
const none = new Service({ ros, name: "/none", serviceType: "std_srvs/Empty" });
console.log(
  JSON.stringify({
    moved_m: after.pose.pose.position.x - before.pose.pose.position.x,
    covariance: [before.pose.covariance.constructor.name, before.pose.covariance.length],
    stamp: Object.keys(before.header.stamp),
    hertz,
    throttled,
    image: [image.data.constructor.name, image.data.length, image.width * image.height * 3],
    base64: typeof picture.data,
    topics: (await promised((done, failed) => ros.getTopics(done, failed))).topics,
    type: await promised((done, failed) => ros.getTopicType(`/${robot}/odom`, done, failed)),
    details: ros.decodeTypeDefs(
      await promised((done, failed) => ros.getMessageDetails("geometry_msgs/Twist", done, failed)),
    ),
    parameters: await promised((done, failed) => ros.getParams(done, failed)),
    nodes: await promised((done, failed) => ros.getNodes(done, failed)),
    parameter: await promised((done) => new Param({ ros, name: "/set_by_roslibpy" }).get(done)),
    sum: await promised((done, failed) => add.callService({ a: 40, b: 2 }, done, failed)),
    refusal: await promised((done) => none.callService({}, () => done("answered"), done)),
  }),
);
ros.close();
