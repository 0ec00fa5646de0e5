import { totalmem } from 'node:os'

/** Memory of the machine, or of the control group (the container) of this process. */
export function memoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}
