/** Indexes in the memory that the two threads share. */
const STATE = 0
const ORDER = 1
const PLACES = 2

const OUTSIDE = 0
const WITHIN = 1
const STOP = 1

/** How long the end of a process waits for a transaction that does not end. No transaction is known to take as long. */
const MOST_WAIT_MS = 10_000

/** Gates that are closed at the end of this process. */
const OPEN_GATES = new Set<OwnerGate>()

/** Memory of a gate, which the owner passes to its thread. */
export type GateMemory = Int32Array<SharedArrayBuffer>

/**
 * Lets the engine stop the write transactions of another thread. A thread that is ended within a write transaction
 * waits for ever in the clean-up of lmdb 3.5.6, and the process waits for the thread. So a process that ends, by
 * `process.exit`, by an uncaught error or by itself, first closes its gates.
 */
export class OwnerGate {
  readonly memory: GateMemory = new Int32Array(new SharedArrayBuffer(4 * PLACES))

  /** Has the end of the process close the gate. */
  watch(): void {
    if (OPEN_GATES.size === 0) process.on('exit', closeAll)
    OPEN_GATES.add(this)
  }

  /** Whether the thread is within a transaction. */
  get isWithin(): boolean {
    return Atomics.load(this.memory, STATE) === WITHIN
  }

  /** Has the thread abort its transaction and begin no other. Returns when the thread is outside of a transaction. */
  close(): void {
    Atomics.store(this.memory, ORDER, STOP)
    while (this.isWithin && Atomics.wait(this.memory, STATE, WITHIN, MOST_WAIT_MS) !== 'timed-out');
  }

  /** Removes the gate. Call it when the thread has ended. */
  forget(): void {
    OPEN_GATES.delete(this)
    if (OPEN_GATES.size === 0) process.off('exit', closeAll)
  }
}

function closeAll(): void {
  for (const gate of OPEN_GATES) gate.close()
}

/** The gate as its thread sees it. */
export class ThreadGate {
  readonly #memory: GateMemory

  constructor(memory: GateMemory) {
    this.#memory = memory
  }

  get isClosed(): boolean {
    return Atomics.load(this.#memory, ORDER) === STOP
  }

  /**
   * Runs work with write transactions, which check `isClosed` every few milliseconds.
   * @throws once the gate is closed
   */
  pass<T>(work: () => T): T {
    Atomics.store(this.#memory, STATE, WITHIN)
    try {
      this.expectOpen()
      return work()
    } finally {
      Atomics.store(this.#memory, STATE, OUTSIDE)
      Atomics.notify(this.#memory, STATE)
    }
  }

  expectOpen(): void {
    if (this.isClosed) throw new Error('the engine ends')
  }
}
