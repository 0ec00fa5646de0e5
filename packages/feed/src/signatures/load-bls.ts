import { type Bls, createPortableBls } from '@ledger-state/proof'
import { loadNativeBls } from './native-bls.js'

/** Loads native BLS if it has a build for this platform, else BLS in JavaScript. */
export async function loadBls(): Promise<Bls> {
  return (await loadNativeBls()) ?? createPortableBls()
}
