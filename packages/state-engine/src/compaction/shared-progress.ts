const DONE = 0
const STOP = 1
const PLACES = 2
const UNIT_BYTES = 1_024

/** Memory of a progress, which its owner passes to a thread. */
export type ProgressMemory = Int32Array<SharedArrayBuffer>

/** Work in bytes that one thread does while another one waits for it. Both have its memory. */
export class SharedProgress {
  readonly memory: ProgressMemory
  /** Bytes that are less than a unit so far. */
  #rest = 0

  constructor(memory: ProgressMemory = new Int32Array(new SharedArrayBuffer(4 * PLACES))) {
    this.memory = memory
  }

  /** Place to which the work has come. Only differences mean something: see `bytesSince`. */
  get place(): number {
    return Atomics.load(this.memory, DONE)
  }

  /** Bytes of work since a place. */
  bytesSince(place: number): number {
    return UNIT_BYTES * ((this.place - place) | 0)
  }

  /** Counts work that is done. */
  add(bytes: number): void {
    this.#rest += bytes
    const units = Math.floor(this.#rest / UNIT_BYTES)
    if (units === 0) return
    this.#rest -= units * UNIT_BYTES
    Atomics.add(this.memory, DONE, units)
    this.wake()
  }

  /** Resolves once the work has left a place, or at `wake`. */
  async left(place: number): Promise<void> {
    const waiting = Atomics.waitAsync(this.memory, DONE, place)
    if (waiting.async) await waiting.value
  }

  /** Makes all waiting threads look again. */
  wake(): void {
    Atomics.notify(this.memory, DONE)
  }

  get isStopped(): boolean {
    return Atomics.load(this.memory, STOP) === 1
  }

  /** Asks for the end of the work. */
  stop(): void {
    Atomics.store(this.memory, STOP, 1)
    this.wake()
  }
}
