import { type LogFn, type Logger, pino, stdTimeFunctions } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { safeText } from '../terminal/safe-text.js'
import { openLogSink } from './log-sink.js'

export interface LogSettings {
  readonly level: string
  readonly format: 'json' | 'text' | 'auto'
}

/** A log, and the number of its lines that were dropped because nobody read them. */
export type ProcessLogger = Logger & { droppedLines(): number }

/** Logs to standard error, one line for each call. No call waits for the reader of the log (`log-sink.ts`). */
export function createLogger({ level, format }: LogSettings, processName: string): ProcessLogger {
  const isText = format === 'text' || (format === 'auto' && process.stderr.isTTY)
  const toText = isText
    ? prettyFactory({
        colorize: process.stderr.isTTY,
        // Nobody at a terminal needs the numbers of processes.
        ignore: process.stderr.isTTY ? 'pid,process,started' : 'pid,process',
        messageFormat: '{process}: {msg}',
        translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l',
      })
    : (line: string): string => line
  const sink = openLogSink((dropped) => {
    log.warn({ dropped }, `${dropped} lines of this log were dropped, because nobody read the log`)
  })
  const base = { process: processName, pid: process.pid }
  const log = pino(
    { level, base, timestamp: stdTimeFunctions.isoTime, hooks: { logMethod: logSafely } },
    // JSON escapes some control characters in its strings, and leaves others as they are.
    { write: (line: string) => sink.write(toText(safeText(line))) },
  )
  return Object.assign(log, { droppedLines: () => sink.dropped })
}

/** Logs a call whose message may quote strangers: a text format prints it without escapes. */
function logSafely(this: Logger, args: Parameters<LogFn>, method: LogFn): void {
  const safe = args.map((arg: unknown) => (typeof arg === 'string' ? safeText(arg) : arg))
  method.apply(this, safe as Parameters<LogFn>)
}
