/** Time after which a node counts as slow, and no longer as lost. */
const SLOW_MS = 400

/**
 * Asks the node whether it answers, whatever it says. A slow node counts as one that does, so nobody waits long for this
 * question.
 */
export async function isNodeThere(): Promise<boolean> {
  const asked = fetch('/v1', { headers: { accept: 'application/json' } }).then(
    () => true,
    () => false,
  )
  const slow = new Promise<boolean>((resolve) => setTimeout(() => resolve(true), SLOW_MS))
  return await Promise.race([asked, slow])
}
