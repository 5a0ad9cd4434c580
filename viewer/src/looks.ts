/** Looks of our pictures: materials, lights, sky and floor, in MuJoCo's own colour space. */
import * as THREE from "three";
import type { Scene, SceneHeader, Vec3 } from "./model.ts";

THREE.ColorManagement.enabled = false; // lights are added in gamma space, as MuJoCo does it

// What is nearly white would be cut off to white, and lose its shape: above 0.7 light is dampened instead.
THREE.ShaderChunk.tonemapping_pars_fragment = THREE.ShaderChunk.tonemapping_pars_fragment.replace(
  "vec3 CustomToneMapping( vec3 color ) { return color; }",
  "vec3 CustomToneMapping( vec3 color ) { return min( color, 0.7 ) + 0.3 * ( 1.0 - exp( - max( color - 0.7, 0.0 ) / 0.3 ) ); }",
);

const DARK = { top: [0.05, 0.065, 0.08], horizon: [0.105, 0.125, 0.145], floor: [0.3, 0.32, 0.34] } as const;
const SHADOW_PX = 2048;

/** Returns the textures of a scene; one that cannot be read leaves its material plain. */
export async function loadTextures(scene: Scene): Promise<(THREE.Texture | null)[]> {
  const { header, blob } = scene;
  const load = async ({ mime, offset, length }: SceneHeader["textures"][number]): Promise<THREE.Texture | null> => {
    try {
      const image = await createImageBitmap(new Blob([blob.slice(offset, offset + length)], { type: mime }));
      const map = new THREE.Texture(image);
      map.wrapS = map.wrapT = THREE.RepeatWrapping;
      map.flipY = false;
      map.anisotropy = 4;
      map.needsUpdate = true;
      return map;
    } catch {
      return null;
    }
  };
  return Promise.all(header.textures.map(load));
}

/** Returns a material of three.js for each of the scene. */
export function makeMaterials(header: SceneHeader, textures: (THREE.Texture | null)[]): THREE.MeshPhongMaterial[] {
  return header.materials.map((material) => {
    const [red, green, blue, alpha] = material.rgba;
    return new THREE.MeshPhongMaterial({
      color: new THREE.Color(red, green, blue),
      specular: new THREE.Color().setScalar(material.specular * 0.3),
      shininess: Math.max(1, material.shininess * 128),
      emissive: new THREE.Color(red, green, blue).multiplyScalar(material.emission),
      transparent: alpha < 1,
      opacity: alpha,
      depthWrite: alpha >= 1,
      map: material.texture == null ? null : (textures[material.texture] ?? null),
    });
  });
}

/** The lights of a scene, and one at the eye. */
export class Lights {
  readonly group = new THREE.Group();
  private readonly head: THREE.DirectionalLight;

  constructor(header: SceneHeader, middle: THREE.Vector3, radius: number) {
    const ambient = colour(header.headlight.ambient);
    for (const light of header.lights) {
      ambient.add(colour(light.ambient));
      const made = light.directional
        ? new THREE.DirectionalLight(colour(light.diffuse), Math.PI)
        : new THREE.SpotLight(colour(light.diffuse), Math.PI, 0, Math.PI / 4, 0.3, 0);
      const direction = new THREE.Vector3(...light.direction).normalize();
      if (light.directional) made.position.copy(middle).addScaledVector(direction, -3 * radius);
      else made.position.set(...light.position);
      made.target.position.copy(made.position).add(direction);
      if (light.shadow && made instanceof THREE.DirectionalLight) castShadow(made, radius);
      this.group.add(made, made.target);
    }
    this.group.add(new THREE.AmbientLight(ambient, Math.PI));
    this.head = new THREE.DirectionalLight(colour(header.headlight.diffuse), Math.PI);
    this.group.add(this.head, this.head.target);
  }

  dispose(): void {
    for (const light of this.group.children) if (light instanceof THREE.Light) light.dispose();
  }

  /** Puts the headlight to the eye. */
  follow(camera: THREE.Camera): void {
    this.head.position.setFromMatrixPosition(camera.matrixWorld);
    this.head.target.position.set(0, 0, -1).applyMatrix4(camera.matrixWorld);
  }
}

function castShadow(light: THREE.DirectionalLight, radius: number): void {
  light.castShadow = true;
  light.shadow.mapSize.set(SHADOW_PX, SHADOW_PX);
  light.shadow.normalBias = 0.0025 * radius;
  const box = light.shadow.camera;
  box.left = box.bottom = -radius;
  box.right = box.top = radius;
  box.near = 0.1 * radius;
  box.far = 8 * radius;
}

/** The sky behind everything and the fog towards the horizon, for a light and a dark page. */
export class Sky {
  readonly mesh: THREE.Mesh;
  private readonly material: THREE.ShaderMaterial;

  constructor(
    private readonly header: SceneHeader,
    private readonly scene: THREE.Scene,
    private readonly radius: number,
  ) {
    this.material = new THREE.ShaderMaterial({
      side: THREE.BackSide,
      depthWrite: false,
      depthTest: false,
      fog: false,
      uniforms: { top: { value: new THREE.Color() }, horizon: { value: new THREE.Color() } },
      vertexShader: `varying vec3 away;
        void main() {
          away = position;
          gl_Position = (projectionMatrix * vec4(mat3(viewMatrix) * position, 1.0)).xyww;
        }`,
      fragmentShader: `uniform vec3 top; uniform vec3 horizon; varying vec3 away;
        void main() {
          float height = clamp(normalize(away).z, 0.0, 1.0);
          gl_FragColor = vec4(mix(horizon, top, pow(height, 0.6)), 1.0);
        }`,
    });
    this.mesh = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 12), this.material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = -1;
  }

  /** Takes the colours of the page. */
  setDark(isDark: boolean): void {
    const { top, horizon } = isDark ? DARK : this.header.sky;
    this.material.uniforms.top!.value = colour(top as Vec3);
    this.material.uniforms.horizon!.value = colour(horizon as Vec3);
    this.scene.fog = new THREE.Fog(colour(horizon as Vec3), this.radius * 3, this.radius * (isDark ? 9 : 12));
  }
}

/** Returns how much of the light a floor gives back on the page. */
export function floorShade(isDark: boolean): THREE.Color {
  return isDark ? colour(DARK.floor as unknown as Vec3) : new THREE.Color(1, 1, 1);
}

export function colour(values: Vec3): THREE.Color {
  return new THREE.Color(...values);
}
