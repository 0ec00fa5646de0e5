// What the packages of the workspace use of `node:buffer`, in a browser.
export { Buffer } from 'buffer/'

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
