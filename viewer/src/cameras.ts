/** Returns the camera of a detector: that which the cell has it look through, of the same name, or of one that is in the other. */
export function cameraOf<Camera extends { name: string; sensors?: string[] }>(source: string, cameras: Camera[]): Camera | null {
  const plain = source.replace(/^\/+/, "").split("/")[0]!;
  const told = cameras.find((camera) => camera.sensors?.includes(plain));
  if (told) return told;
  const near = cameras.find((camera) => plain.includes(camera.name) || camera.name.includes(plain));
  return cameras.find((camera) => camera.name === plain) ?? near ?? null;
}
