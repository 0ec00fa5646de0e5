/** Work that may take longer than a turn of the event loop, described as data, so that a worker can do it. */
export interface ComputeTask {
  readonly name: string
  readonly inputs: readonly Uint8Array[]
}

/** Does a task. Whatever it throws ends the run with a fault. */
export type Compute = (task: ComputeTask) => readonly Uint8Array[]
