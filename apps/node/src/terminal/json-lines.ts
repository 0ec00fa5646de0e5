const INFO = 30
const ERROR = 50

/**
 * Makes every line that this process writes to standard error a line of JSON, with the members of a line of the log.
 * Progress is not rewritten then, even on a terminal.
 */
export function writeJsonLines(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream)
  stream.isTTY = false
  stream.write = (text: string | Uint8Array) => {
    const lines = text
      .toString()
      .split('\n')
      .filter((line) => line.trim() !== '')
    return lines.length === 0 || write(lines.map((line) => `${toJson(line)}\n`).join(''))
  }
}

function toJson(line: string): string {
  if (line.startsWith('{"level":')) return line
  const level = line.startsWith('ledger-state: ') ? ERROR : INFO
  return JSON.stringify({ level, time: new Date().toISOString(), process: 'program', pid: process.pid, msg: line })
}
