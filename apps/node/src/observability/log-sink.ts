import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'

const STANDARD_ERROR = 2
/** Most bytes of lines that wait until somebody reads the log. Further lines are dropped. */
const MOST_WAITING_BYTES = 65_536
const RETRY_MS = 50

/** Where lines go. No call waits for a reader. */
interface Output {
  /** Whether a further line is accepted. */
  hasRoom(): boolean
  /** Writes a line now or later. Returns false if it is lost. */
  write(line: string): boolean
}

/** Standard error, for lines of a log. */
export interface LogSink {
  /** Lines that were dropped since the process began. */
  readonly dropped: number
  /** Writes a line, or drops it if those before it were not read. */
  write(line: string): void
}

/**
 * Opens standard error for a log. Nobody may read it: a terminal is paused, a shipper of logs is stuck. A line that
 * would wait for the reader is dropped and counted, so that no process waits with it. As long as the log is read, a
 * line is written before the call returns, and lines of several processes do not mix.
 * @param onResumed called with the number of dropped lines, once lines are accepted again
 */
export function openLogSink(onResumed: (dropped: number) => void): LogSink {
  let dropped = 0
  let unreported = 0
  const report = (): void => {
    if (unreported === 0 || !output.hasRoom()) return
    const lines = unreported
    unreported = 0
    onResumed(lines)
  }
  const output = openOutput(report)
  return {
    get dropped() {
      return dropped
    },
    write(line) {
      report()
      if (output.hasRoom() && output.write(line)) return
      dropped++
      unreported++
    },
  }
}

function openOutput(onRoom: () => void): Output {
  if (isatty(STANDARD_ERROR)) return terminalOutput(onRoom) ?? fileOutput()
  const kind = statOf(STANDARD_ERROR)
  return kind?.isFIFO() || kind?.isSocket() ? streamOutput(onRoom) : fileOutput()
}

function statOf(descriptor: number) {
  try {
    return fstatSync(descriptor)
  } catch {
    return undefined
  }
}

/** A file or a device without a reader, which makes nobody wait. */
function fileOutput(): Output {
  return {
    hasRoom: () => true,
    write: (line) => writeNow(STANDARD_ERROR, Buffer.from(line)) !== undefined,
  }
}

/** A pipe or a socket. Node.js writes at once the bytes that it accepts, and keeps the rest. */
function streamOutput(onRoom: () => void): Output {
  const { stderr } = process
  // The reader may have left.
  stderr.on('error', () => {})
  stderr.on('drain', onRoom)
  return {
    hasRoom: () => stderr.writableLength < MOST_WAITING_BYTES,
    write(line) {
      stderr.write(line)
      return true
    },
  }
}

/**
 * A terminal. Node.js waits for terminals, so it is opened again for writing without waiting; undefined if the system
 * has no such way.
 */
function terminalOutput(onRoom: () => void): Output | undefined {
  let descriptor: number
  try {
    descriptor = openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return undefined
  }
  let waiting = Buffer.alloc(0)
  let timer: NodeJS.Timeout | undefined
  const push = (): void => {
    timer = undefined
    waiting = waiting.subarray(writeNow(descriptor, waiting) ?? waiting.length)
    if (waiting.length > 0) timer = setTimeout(push, RETRY_MS).unref()
    else onRoom()
  }
  return {
    hasRoom: () => waiting.length < MOST_WAITING_BYTES,
    write(line) {
      waiting = Buffer.concat([waiting, Buffer.from(line)])
      if (timer === undefined) push()
      return true
    },
  }
}

/** Writes the bytes that are accepted at once, and returns their number; undefined for an error of the output. */
function writeNow(descriptor: number, bytes: Buffer): number | undefined {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written)
    return written
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? written : undefined
  }
}
