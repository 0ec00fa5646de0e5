import type { Bls } from './bls.js'
import { loadNativeBls } from './native-bls.js'
import { createPortableBls } from './portable-bls.js'

/** Native BLS where it has a build for this platform, or else that in JavaScript. */
export async function loadBls(): Promise<Bls> {
  return (await loadNativeBls()) ?? createPortableBls()
}
