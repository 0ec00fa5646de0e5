// WebAssembly as far as it is used here: the types of the language do not declare it.

interface WasmMemory {
  readonly buffer: ArrayBuffer
}

interface WasmInstance {
  readonly exports: Readonly<Record<string, (jobs: number, count: number, seed: number) => void>>
}

/** The constructors of a runtime. */
export interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  readonly Instance: new (module: object, imports: object) => WasmInstance
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory
  readonly validate: (bytes: Uint8Array<ArrayBuffer>) => boolean
}

/** WebAssembly of this runtime; undefined if it has none, as Node.js with `--jitless`. */
export function webAssembly(): WebAssemblyApi | undefined {
  return (globalThis as unknown as { readonly WebAssembly?: WebAssemblyApi }).WebAssembly
}
