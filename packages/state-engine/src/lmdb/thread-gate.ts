const IDLE = 0
const BUSY = 1
const SHUT = 2

/** Bytes of the memory that two threads share. */
const GATE_BYTES = 4

/** Lets one thread do work that must not be interrupted, until another thread shuts the gate. */
export class ThreadGate {
  readonly memory: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(memory = new SharedArrayBuffer(GATE_BYTES)) {
    this.memory = memory
    this.#state = new Int32Array(memory)
  }

  /** Runs work. Once the gate is shut, it waits for the end of the process instead. */
  pass<T>(work: () => T): T {
    while (Atomics.compareExchange(this.#state, 0, IDLE, BUSY) === SHUT) Atomics.wait(this.#state, 0, SHUT)
    try {
      return work()
    } finally {
      Atomics.store(this.#state, 0, IDLE)
      Atomics.notify(this.#state, 0)
    }
  }

  /** Shuts the gate. Returns when no work is under way. */
  shut(): void {
    while (Atomics.compareExchange(this.#state, 0, IDLE, SHUT) === BUSY) Atomics.wait(this.#state, 0, BUSY)
  }
}
