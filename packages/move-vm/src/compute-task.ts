/** Work that may take longer than a turn of the event loop, as data: it can be done in a worker. */
export interface ComputeTask {
  readonly name: string
  readonly inputs: readonly Uint8Array[]
}

/** Does a task. @throws whatever is wrong: the run ends with a fault */
export type Compute = (task: ComputeTask) => readonly Uint8Array[]
