import { fstatSync, writeSync } from 'node:fs'

const STANDARD_OUTPUT = 1
/** Time after which a command that is done no longer waits for readers of its output. */
const LEAVE_MS = 1_000

/** Watches the standard outputs of this process. Their readers may leave, stall, or be a full disk. */
export interface OutputWatch {
  /** Tells that the command continues without a reader, since its work is elsewhere. Others end with their reader. */
  goOn(): void
  /** Call it once the command is done. Messages that nobody reads do not keep the process. */
  finish(): void
}

export function watchOutput(): OutputWatch {
  const { stdout, stderr } = process
  let goesOn = false
  let isReported = false
  stderr.on('error', () => {})
  stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // A reader that leaves, such as `head`, has read enough.
    if (code !== 'EPIPE') {
      process.exitCode = 1
      if (!isReported) stderr.write(`ledger-state: standard output cannot be written: ${message}\n`)
      isReported = true
    }
    if (!goesOn) process.exit()
  })
  if (isFile(STANDARD_OUTPUT)) writeWhole(stdout)
  return {
    goOn() {
      goesOn = true
    },
    finish() {
      const leave = (): void => {
        if (goesOn || stdout.writableLength === 0) process.exit()
        setTimeout(leave, LEAVE_MS).unref()
      }
      setTimeout(leave, LEAVE_MS).unref()
    },
  }
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile()
  } catch {
    return false
  }
}

/** If a full disk accepts only a part of a text, Node.js drops the rest and reports nothing. */
function writeWhole(stdout: NodeJS.WriteStream): void {
  stdout._write = (chunk: string | Uint8Array, encoding: BufferEncoding, done) => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(STANDARD_OUTPUT, bytes, written)
      done()
    } catch (error) {
      done(error as Error)
    }
  }
}
