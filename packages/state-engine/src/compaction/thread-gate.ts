/** Places of the memory that the two threads share. */
const STATE = 0
const ORDER = 1
/** How many wait for the transaction under way. */
const WANTED = 2
const PLACES = 3

const OUTSIDE = 0
const WITHIN = 1
const STOP = 1

/** How long the end of a process waits for a transaction that does not end. Nothing is known to take as long. */
const MOST_WAIT_MS = 10_000

/** Gates that the end of this process closes. */
const OPEN_GATES = new Set<OwnerGate>()

/** The memory of a gate, which the owner hands over to its thread. */
export type GateMemory = Int32Array<SharedArrayBuffer>

/**
 * A gate before the write transactions of another thread, on the side of the engine. A thread that is ended within a write
 * transaction waits in the clean-up of lmdb 3.5.6 for ever, and the process waits for the thread. So a process that ends, by
 * `process.exit`, by an uncaught error or by itself, first closes its gates.
 */
export class OwnerGate {
  readonly memory: GateMemory = new Int32Array(new SharedArrayBuffer(4 * PLACES))

  /** Closes the gate when the process ends. */
  watch(): void {
    if (OPEN_GATES.size === 0) process.on('exit', closeAll)
    OPEN_GATES.add(this)
  }

  /** Says that others wait for the transaction under way, or that none does. */
  setWanted(isWanted: boolean): void {
    Atomics.store(this.memory, WANTED, isWanted ? 1 : 0)
  }

  /** Whether the thread is within a transaction. */
  get isWithin(): boolean {
    return Atomics.load(this.memory, STATE) === WITHIN
  }

  /** Has the thread abort its transaction and begin no other. Returns when it is outside. */
  close(): void {
    Atomics.store(this.memory, ORDER, STOP)
    while (this.isWithin && Atomics.wait(this.memory, STATE, WITHIN, MOST_WAIT_MS) !== 'timed-out');
  }

  /** Call it when the thread has ended. */
  forget(): void {
    OPEN_GATES.delete(this)
    if (OPEN_GATES.size === 0) process.off('exit', closeAll)
  }
}

function closeAll(): void {
  for (const gate of OPEN_GATES) gate.close()
}

/** The gate on the side of the thread. */
export class ThreadGate {
  readonly #memory: GateMemory

  constructor(memory: GateMemory) {
    this.#memory = memory
  }

  get isClosed(): boolean {
    return Atomics.load(this.#memory, ORDER) === STOP
  }

  get isWanted(): boolean {
    return Atomics.load(this.#memory, WANTED) === 1
  }

  /** Runs work with write transactions, which look at `isClosed` every few milliseconds. @throws once the gate is closed */
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
