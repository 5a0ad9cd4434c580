/** A scene of a run as three.js draws it: bodies with their shapes, light, sky; posed for any time. */
import * as THREE from "three";
import { decodeMesh } from "./geometry.ts";
import { floorShade, Lights, makeMaterials, Sky } from "./looks.ts";
import { rowIndex } from "./document.ts";
import type { Colours, Geom, Pose } from "./model.ts";
import type { Run } from "./run.ts";

const ENDLESS_M = 40;

export class CellScene {
  readonly three = new THREE.Scene();
  readonly groups: THREE.Group[];
  readonly middle = new THREE.Vector3();
  readonly radius: number;
  readonly lights: Lights;
  private readonly sky: Sky;
  private readonly floors: THREE.MeshPhongMaterial[] = [];
  private readonly geometries = new Map<string, THREE.BufferGeometry>();
  private readonly pose: Pose = [0, 0, 0, 1, 0, 0, 0];
  private posed_s = Number.NaN;
  private readonly named = new Map<string, THREE.MeshPhongMaterial>();
  private painted = -1;
  private firstPaint: Colours | undefined;

  constructor(
    readonly run: Run,
    textures: (THREE.Texture | null)[],
  ) {
    const { header } = run.scene;
    const materials = makeMaterials(header, textures);
    header.materials.forEach(({ name }, index) => name && this.named.set(name, materials[index]!));
    this.groups = header.bodies.map((body, index) => {
      const group = new THREE.Group();
      group.userData.body = index;
      group.matrixAutoUpdate = false;
      if (body.pose) setPose(group, body.pose);
      group.visible = run.isPlaced(index);
      this.three.add(group);
      return group;
    });
    for (const geom of header.geoms) this.addGeom(geom, materials);
    this.three.updateMatrixWorld(true);
    this.radius = this.measure();
    this.lights = new Lights(header, this.middle, this.radius);
    this.sky = new Sky(header, this.three, this.radius);
    this.three.add(this.lights.group, this.sky.mesh);
  }

  /** Poses all that moves; returns whether anything could have changed. */
  setTime(time_s: number, isForced = false): boolean {
    if (time_s === this.posed_s && !isForced) return false;
    this.posed_s = time_s;
    for (const body of this.run.scene.header.moving) {
      const group = this.groups[body];
      if (group) setPose(group, this.run.poseAt(body, time_s, this.pose));
    }
    this.paint(time_s);
    return true;
  }

  /** Gives materials the colours that they had at a time. */
  private paint(time_s: number): void {
    const rows = this.run.document.colours;
    const until = rowIndex(rows, time_s);
    const isLater = until >= this.painted && this.firstPaint === rows[0];
    if (isLater && until === this.painted) return;
    if (!isLater) {
      for (const { name, rgba, emission } of this.run.scene.header.materials) {
        if (name) this.paintOne(name, [rgba[0], rgba[1], rgba[2], emission]);
      }
    }
    for (let i = isLater ? this.painted + 1 : 0; i <= until; i++) {
      for (const [name, colour] of Object.entries(rows[i]!.colours)) this.paintOne(name, colour);
    }
    this.painted = until;
    this.firstPaint = rows[0];
  }

  private paintOne(name: string, [red, green, blue, glow]: [number, number, number, number]): void {
    const material = this.named.get(name);
    material?.color.setRGB(red, green, blue);
    material?.emissive.setRGB(red * glow, green * glow, blue * glow);
  }

  /** Returns red, green, blue of a named material, and the red, green, blue that it gives off. */
  colourOf(name: string): number[] | null {
    const material = this.named.get(name);
    return material ? [...material.color.toArray(), ...material.emissive.toArray()] : null;
  }

  setDark(isDark: boolean): void {
    this.sky.setDark(isDark);
    for (const material of this.floors) material.color.copy(floorShade(isDark)).multiply(material.userData.colour as THREE.Color);
  }

  /** Gives back what the graphics card holds. */
  dispose(): void {
    this.three.traverse((object) => {
      if (!(object instanceof THREE.Mesh)) return;
      (object.geometry as THREE.BufferGeometry).dispose();
      (object.material as THREE.MeshPhongMaterial).map?.dispose();
      (object.material as THREE.Material).dispose();
    });
    this.lights.dispose();
  }

  /** Makes shaders anew, as shadows need when they are switched. */
  renewMaterials(): void {
    this.three.traverse((object) => {
      if (object instanceof THREE.Mesh) (object.material as THREE.Material).needsUpdate = true;
    });
  }

  /** Returns shapes of a body for something that looks like it, in one material or in its own. */
  copyOf(body: number, material: THREE.Material | null): THREE.Group {
    const copy = new THREE.Group();
    for (const child of this.groups[body]?.children ?? []) {
      if (!(child instanceof THREE.Mesh) || child.userData.geom === undefined) continue;
      const mesh = new THREE.Mesh(child.geometry as THREE.BufferGeometry, material ?? (child.material as THREE.Material));
      mesh.matrixAutoUpdate = false;
      mesh.matrix.copy(child.matrix);
      copy.add(mesh);
    }
    return copy;
  }

  /** Returns the box round a body, in its own axes. */
  boxOf(body: number): THREE.Box3 {
    const box = new THREE.Box3();
    for (const child of this.groups[body]?.children ?? []) {
      if (!(child instanceof THREE.Mesh) || child.userData.geom === undefined) continue;
      const geometry = child.geometry as THREE.BufferGeometry;
      if (!geometry.boundingBox) geometry.computeBoundingBox();
      box.union(geometry.boundingBox!.clone().applyMatrix4(child.matrix));
    }
    return box;
  }

  private addGeom(geom: Geom, materials: THREE.MeshPhongMaterial[]): void {
    const group = this.groups[geom.body];
    let material = materials[geom.material];
    if (!group || !material) throw new Error("a shape of the scene has no body or no material");
    const isFloor = geom.type === "plane" && !(geom.size[0] > 0);
    if (isFloor) {
      material = material.clone();
      material.userData.colour = material.color.clone();
      this.floors.push(material);
    }
    const mesh = new THREE.Mesh(this.geometryOf(geom), material);
    mesh.matrixAutoUpdate = false;
    setPose(mesh, geom.pose);
    if (["cylinder", "capsule"].includes(geom.type)) mesh.matrix.multiply(new THREE.Matrix4().makeRotationX(Math.PI / 2));
    if (geom.type === "ellipsoid") mesh.matrix.scale(new THREE.Vector3(...geom.size));
    mesh.castShadow = !isFloor && material.opacity > 0.5;
    mesh.receiveShadow = material.opacity > 0.5;
    mesh.userData.geom = geom.type;
    group.add(mesh);
  }

  private geometryOf(geom: Geom): THREE.BufferGeometry {
    const { materials } = this.run.scene.header;
    const repeat = materials[geom.material]?.repeat ?? null;
    const isMesh = geom.type === "mesh" && geom.mesh != null;
    const key = isMesh ? `mesh ${geom.mesh}` : `${geom.type} ${geom.size.join(" ")} ${geom.type === "plane" ? repeat : ""}`;
    let geometry = this.geometries.get(key);
    if (!geometry) {
      geometry = isMesh ? this.meshOf(geom.mesh as number) : primitive(geom, repeat);
      this.geometries.set(key, geometry);
    }
    return geometry;
  }

  private meshOf(index: number): THREE.BufferGeometry {
    const mesh = this.run.scene.header.meshes[index];
    if (!mesh) throw new Error("a shape of the scene has no mesh");
    const { positions, normals, indices, uvs } = decodeMesh(mesh, this.run.scene.blob);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3, true));
    if (uvs) geometry.setAttribute("uv", new THREE.BufferAttribute(uvs, 2));
    geometry.setIndex(new THREE.BufferAttribute(mesh.vertices < 65536 ? new Uint16Array(indices) : indices, 1));
    return geometry;
  }

  /** Sets the middle of what is in the cell, and returns the radius round it, for shadows and fog. */
  private measure(): number {
    const box = new THREE.Box3();
    this.run.scene.header.bodies.forEach((body, index) => {
      if (!body.pose) return;
      const own = this.boxOf(index);
      const size = own.getSize(new THREE.Vector3());
      if (body.kind !== "world" && !own.isEmpty() && size.length() < 20) box.union(own.applyMatrix4(this.groups[index]!.matrix));
    });
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1));
    box.getCenter(this.middle);
    return Math.min(4, Math.max(0.5, box.getSize(new THREE.Vector3()).length() / 2));
  }
}

function primitive(geom: Geom, repeat: [number, number] | null): THREE.BufferGeometry {
  const [x, y, z] = geom.size;
  switch (geom.type) {
    case "plane": {
      const isEndless = !(x > 0);
      const wide = isEndless ? ENDLESS_M : 2 * x;
      const deep = isEndless || !(y > 0) ? (isEndless ? ENDLESS_M : 2 * x) : 2 * y;
      const geometry = new THREE.PlaneGeometry(wide, deep);
      const uv = geometry.getAttribute("uv");
      const position = geometry.getAttribute("position");
      for (let i = 0; repeat && i < uv.count; i++) {
        const u = position.getX(i) + (isEndless ? 0 : wide / 2);
        const v = position.getY(i) + (isEndless ? 0 : deep / 2);
        uv.setXY(i, u * repeat[0], v * repeat[1]);
      }
      return geometry;
    }
    case "box":
      return new THREE.BoxGeometry(2 * x, 2 * y, 2 * z);
    case "sphere":
      return new THREE.SphereGeometry(x, 24, 16);
    case "ellipsoid":
      return new THREE.SphereGeometry(1, 24, 16);
    case "cylinder":
      return new THREE.CylinderGeometry(x, x, 2 * y, 40);
    case "capsule":
      return new THREE.CapsuleGeometry(x, 2 * y, 8, 24);
    default:
      throw new Error(`a shape of the scene is a '${geom.type}', which this page cannot draw`);
  }
}

const ONE = new THREE.Vector3(1, 1, 1);
const at = new THREE.Vector3();
const turn = new THREE.Quaternion();

/** Poses an object whose matrix is not updated by itself. */
export function setPose(object: THREE.Object3D, pose: Pose): void {
  at.set(pose[0], pose[1], pose[2]);
  turn.set(pose[4], pose[5], pose[6], pose[3]);
  object.matrix.compose(at, turn, ONE);
  object.matrixWorldNeedsUpdate = true;
}
