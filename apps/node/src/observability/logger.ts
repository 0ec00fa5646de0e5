import { destination, type Logger, pino, stdTimeFunctions } from 'pino'
import pretty from 'pino-pretty'

export interface LogSettings {
  readonly level: string
  readonly format: 'json' | 'text' | 'auto'
}

const STANDARD_ERROR = 2

/**
 * Logs to standard error, one line for each call. The line is written before the call returns, so that no line is lost
 * when the process ends, and lines of several processes do not mix.
 */
export function createLogger({ level, format }: LogSettings, processName: string): Logger {
  const isText = format === 'text' || (format === 'auto' && process.stderr.isTTY)
  const stream = isText
    ? pretty({
        destination: STANDARD_ERROR,
        sync: true,
        colorize: process.stderr.isTTY,
        ignore: 'pid,process',
        messageFormat: '{process}: {msg}',
        translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l',
      })
    : destination({ fd: STANDARD_ERROR, sync: true })
  const base = { process: processName, pid: process.pid }
  return pino({ level, base, timestamp: stdTimeFunctions.isoTime }, stream)
}
