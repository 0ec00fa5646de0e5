import { spawnSync } from 'node:child_process'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { expect, it } from 'vitest'

const MODULE = new URL('logger.ts', import.meta.url).href

/** The lines of a log in a process of its own: a message, an error and a field that quote control characters. */
function loggedAs(format: string): string {
  const program = `
    import { createLogger } from '${MODULE}'
    const log = createLogger({ level: 'info', format: '${format}' }, 'reader')
    const quote = 'a\u001b[2Jb\u009b31mc'
    log.warn(quote)
    log.error(new Error(quote), quote)
    log.error({ err: new Error(quote), url: quote }, 'a request failed')`
  const options = [...SOURCE_OPTIONS, '--input-type=module', '--eval', program]
  const { status, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' })
  expect(status).toBe(0)
  return stderr
}

it.each(['text', 'json'])('a log as %s has no control character of quoted text', (format) => {
  const text = loggedAs(format)
  expect(text).toContain('a [2Jb 31mc')
  expect(text).toContain('a request failed')
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})
