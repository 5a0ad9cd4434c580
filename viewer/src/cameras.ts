/** Returns the camera of a detector: of the same name, or of one that is in the other. */
export function cameraOf<Camera extends { name: string }>(source: string, cameras: Camera[]): Camera | null {
  const plain = source.replace(/^\/+/, "").split("/")[0]!;
  const near = cameras.find((camera) => plain.includes(camera.name) || camera.name.includes(plain));
  return cameras.find((camera) => camera.name === plain) ?? near ?? null;
}
