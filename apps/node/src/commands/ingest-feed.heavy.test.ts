// Ingest of ledger feeds: accepted input, where it stops, and how it resumes.
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { openStateEngine } from '@ledger-state/state-engine'
import { eventually } from '@ledger-state/testing/eventually'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { FEED_HEADER, feedRow, feedRows } from '../../testing/feed-rows.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

function feed(...lines: string[]): string {
  const path = bed.at('feed.ndjson')
  writeFileSync(path, lines.join('\n'))
  return path
}

/** Opens a pipe to write to it; undefined as long as nobody reads it. */
function tryOpenWriter(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}

const ingest = (path: string, ...options: string[]) => bed.ingest(path, 'store', ...options)
const info = () => bed.info('store')

describe('ingest of a feed', () => {
  it('skips the versions of the store, resumes with the next ones, and stops at --to', async () => {
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 50)), '--to', '29')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('30 versions'),
    })
    expect(await info()).toMatchObject({ chain_id: 4, ledger_version: '29', block_height: '2', keys: 22 })
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 50)))).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('20 versions'),
    })
    expect(ingest(feed(FEED_HEADER, ...feedRows(45, 60)))).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('10 versions'),
    })
    expect(await info()).toMatchObject({ ledger_version: '59', oldest_ledger_version: '0', block_height: '5' })
  })

  it.runIf(isSlowRun)(
    'refuses a gap, another chain, a start above 0 and a cut line, naming the line; the versions before it stay',
    async () => {
      const refused = (path: string) => {
        const { status, stderr } = ingest(path)
        expect(status).toBe(1)
        return stderr
      }
      expect(refused(feed(FEED_HEADER, ...feedRows(10, 20)))).toContain(
        'line 2: the source begins at version 10, but the store is empty',
      )
      expect(refused(feed(FEED_HEADER, ...feedRows(0, 7), feedRow(7).slice(0, 40)))).toContain('line 9:')
      expect((await info()).ledger_version).toBe('6')
      expect(refused(feed(FEED_HEADER, ...feedRows(9, 12)))).toMatch(
        /line 2: expected version 7, the next one of the store; found version 9/,
      )
      expect(refused(feed(FEED_HEADER, ...feedRows(0, 9), feedRow(10)))).toContain(
        'line 11: version 10 follows version 8, expected 9',
      )
      expect(refused(feed(FEED_HEADER.replace('4}', '5}'), ...feedRows(9, 12)))).toContain(
        'line 1: the source has chain 5, but the store holds chain 4',
      )
      const path = bed.at('cut.ndjson.gz')
      const whole = gzipSync([FEED_HEADER, ...feedRows(0, 2_000)].join('\n'))
      writeFileSync(path, whole.subarray(0, whole.length - 2_000))
      expect(refused(path)).toMatch(/line \d+: the rest of the file cannot be read/)
      expect(Number((await info()).ledger_version)).toBeGreaterThan(100)
    },
  )

  it('takes a feed from a pipe', async () => {
    const path = feed(FEED_HEADER, ...feedRows(0, 50), '')
    const program = bed
      .commandLine('ingest')
      .map((word) => `'${word}'`)
      .join(' ')
    const shell = (line: string) => spawnSync('bash', ['-c', line], { encoding: 'utf8', cwd: bed.folder })
    for (const [at, line] of [
      `${program} <(cat '${path}') --data-dir`,
      `cat '${path}' | ${program} /dev/stdin --data-dir`,
      `(printf '\\xef\\xbb\\xbf'; cat '${path}'; echo) | ${program} - --data-dir`,
      `gzip -c '${path}' | ${program} /dev/fd/0 --data-dir`,
      `${program} /dev/stdin < '${path}' --data-dir`,
      `mkfifo pipe; (cat '${path}' > pipe &); ${program} pipe --data-dir`,
    ].entries()) {
      expect(shell(`${line} piped${at}`)).toMatchObject({ status: 0, stderr: expect.stringContaining('50 versions') })
      expect(await bed.info(`piped${at}`)).toMatchObject({ ledger_version: '49' })
    }
    expect(shell(`${program} <(true) --data-dir piped-nothing`)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is empty: expected a genesis blob or a ledger feed'),
    })
  })

  it('ends by SIGTERM while it waits for a pipe that nobody writes to', async () => {
    execFileSync('mkfifo', [bed.at('silent')])
    const program = bed.start('ingest', 'silent', '--data-dir', bed.at('store'))
    let writer: number | undefined
    await eventually(
      () => {
        writer = tryOpenWriter(bed.at('silent'))
        return writer !== undefined
      },
      () => program.output,
    )
    program.child.kill('SIGTERM')
    expect(await program.ended).not.toBe(0)
    closeSync(writer!)
    expect(existsSync(bed.at('store'))).toBe(false)
  })

  it('is refused while another process writes', async () => {
    const engine = openStateEngine({ path: bed.at('store') })
    const { status, stderr } = ingest(feed(FEED_HEADER, ...feedRows(0, 10)))
    expect([status, stderr]).toEqual([1, expect.stringContaining('another writer has this store open')])
    await engine.close()
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 10))).status).toBe(0)
  })

  it('that fails before anything is stored leaves neither a store nor a folder', () => {
    const damaged = feed(FEED_HEADER, 'no version')
    expect(ingest(damaged).status).toBe(1)
    expect(existsSync(bed.at('store'))).toBe(false)
    mkdirSync(bed.at('store'))
    writeFileSync(bed.at('store/notes.txt'), 'mine')
    expect(ingest(damaged).status).toBe(1)
    expect(readdirSync(bed.at('store'))).toEqual(['notes.txt'])
    // The stored versions stay, and the next ingest continues them.
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 20), 'no version')).status).toBe(1)
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 30)))).toMatchObject({ status: 0 })
  })
})
