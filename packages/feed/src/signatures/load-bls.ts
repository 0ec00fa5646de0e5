import { type Bls, createPortableBls } from '@ledger-state/proof'
import { loadNativeBls } from './native-bls.js'

/** Native BLS where it has a build for this platform, or else that in JavaScript. */
export async function loadBls(): Promise<Bls> {
  return (await loadNativeBls()) ?? createPortableBls()
}
