// The commands prune, check, snapshot and export.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { openStateEngine, openStateEngineReader, STORE_FILE } from '@ledger-state/state-engine'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asNobody, canBecomeNobody } from '../../testing/as-nobody.ts'
import { CommandBed } from '../../testing/command-bed.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

/** Output of a command on a terminal, with its standard output. */
function onTerminal(...words: string[]): string {
  const quoted = bed.commandLine(...words).map((word) => `'${word}'`)
  return spawnSync('script', ['-qec', quoted.join(' '), '/dev/null'], { encoding: 'utf8', cwd: bed.folder }).stdout
}

describe('info --forecast', () => {
  it('computes larger windows from the figures of the store, even while it is written', async () => {
    await bed.fill('store', 100)
    const engine = openStateEngine({ path: bed.at('store') })
    const { stats } = engine
    const facts = JSON.parse(bed.run('info', '--data-dir', 'store', '--forecast', '--json').stdout)
    expect(facts.ledger_version).toBe('99')
    const { basis, windows } = facts.forecast
    expect(basis).toMatchObject({ keys: stats.keys, writes_per_version: stats.historyEntries / 100 })
    expect(windows.map(({ versions }: { versions: number }) => versions)).toEqual([1e6, 50e6, 500e6])
    for (const { versions, disk_bytes } of windows) {
      const used = basis.keys * basis.bytes_per_key + versions * basis.writes_per_version * basis.bytes_per_write
      expect(disk_bytes).toBe(Math.ceil(used * basis.file_to_used_pages))
    }
    const { status, stdout } = bed.run('info', '--data-dir', 'store', '--forecast')
    expect(status).toBe(0)
    expect(stdout).toMatch(/window +disk +memory +from a backup +from a node\n +1,000,000 +\d/)
    await engine.close()
  })

  it('says that it needs more versions if nothing was superseded', async () => {
    await bed.fill('store', 1)
    expect(bed.run('info', '--data-dir', 'store', '--forecast')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/cannot forecast: .* ingest some versions first\n$/),
    })
  })
})

describe('info', () => {
  it('counts transactions from the oldest one that is still kept', () => {
    const chain = new SyntheticChain({ blocks: 12 })
    writeBackup(chain, bed.at('backup'))
    const since = (store: string) => {
      const facts = JSON.parse(bed.run('info', '--data-dir', store, '--json').stdout) as Record<string, string>
      const { oldest_ledger_version: oldest, transactions_since: known, whole_transactions_since: whole } = facts
      const { stdout } = bed.run('info', '--data-dir', store)
      return { oldest: Number(oldest), known, whole, row: /^ *transactions +(.*)$/m.exec(stdout)![1] }
    }
    expect(bed.ingest('backup', 'store', '--unsigned').status).toBe(0)
    expect(since('store')).toEqual({ oldest: 0, known: '0', whole: '0', row: 'whole, kept' })
    expect(bed.run('prune', '--retain', '10', '--data-dir', 'store').status).toBe(0)
    const { oldest } = since('store')
    expect(oldest).toBeGreaterThan(0)
    expect(since('store')).toEqual({ oldest, known: String(oldest), whole: String(oldest), row: 'whole, kept' })

    const retaining = ['--retain', '10', '--retain-transactions', '1000']
    expect(bed.ingest('backup', 'longer', '--unsigned', ...retaining).status).toBe(0)
    expect(since('longer')).toEqual({ oldest, known: '0', whole: '0', row: 'whole, kept since version 0' })
  })

  it('ignores no option that chooses another output', async () => {
    await bed.fill('store', 2)
    for (const words of [
      ['--members', '--json'],
      ['--slice', '--members'],
      ['--slice', '--forecast'],
    ]) {
      const { status, stdout, stderr } = bed.run('info', '--data-dir', 'store', ...words)
      expect([status, stdout]).toEqual([2, ''])
      expect(stderr).toContain(`${words[0]} prints a separate list; it cannot be combined with ${words[1]}`)
    }
  })

  it.each(['--slice', '--members'])('%s says that a store keeps no slice', async (option) => {
    await bed.fill('store', 2)
    const stderr = 'ledger-state: the store in store keeps no slice: it has the whole ledger, or nothing yet\n'
    expect(bed.run('info', '--data-dir', 'store', option)).toMatchObject({ status: 1, stdout: '', stderr })
  })
})

it('each command that takes a version names the versions of the store if it is none of them', async () => {
  await bed.fill('store', 100, { retain: 35n })
  for (const words of [
    ['export', 'feed.ndjson', '--from', '100'],
    ['export', 'feed.ndjson', '--from', '59'],
    ['export', 'feed.ndjson', '--to', '100'],
    ['export', 'lake', '--format', 'parquet', '--from', '100'],
    ['check', '--state-root', '--version', '100'],
    ['check', '--holdings', '--version', '100'],
    ['get', 'account', '0x1', '--version', '100'],
    ['history', 'balance', '0x1', '0xa', '--to', '100'],
  ].slice(0, isSlowRun ? undefined : 3)) {
    const stderr = expect.stringMatching(/(100|59)\).*; the store holds versions 60 to 99, from \S+ to \S+\n$/)
    expect(bed.run(...words, '--data-dir', 'store')).toMatchObject({ status: 1, stderr })
  }
})

it.each([['export feed.ndjson'], ['export lake --format parquet'], ['segments push shared']])(
  '%s of an empty store names the store',
  async (line) => {
    await openStateEngine({ path: bed.at('store') }).close()
    const { status, stderr } = bed.run(...line.split(' '), '--data-dir', 'store')
    expect(status).toBe(1)
    expect(stderr).toMatch(/^ledger-state: the store in store is empty: /)
  },
)

describe('prune', () => {
  it('leaves a window of whole blocks', async () => {
    await bed.fill('store', 100, { retain: 35n })
    expect(await bed.info('store')).toMatchObject({
      ledger_version: '99',
      oldest_ledger_version: '60',
      oldest_block_height: '6',
      blocks: 4,
    })
    expect(bed.run('prune', '--data-dir', 'store', '--retain', '15')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('the oldest version is 80'),
    })
    expect(await bed.info('store')).toMatchObject({ oldest_ledger_version: '80' })
  })

  it('says how much can still be read and reclaimed, as `info` does, and a compact copy leaves the rest out', async () => {
    await bed.fill('store', 20_000)
    const writer = openStateEngine({ path: bed.at('store') })
    await writer.merge()
    await writer.close()
    const { stdout } = bed.run('prune', '--data-dir', 'store', '--retain', '15')
    const [, entries, size] =
      /; (\d+) history entries can be read; about ([\d.]+ [KM]iB) can be reclaimed/.exec(stdout) ?? []
    const engine = openStateEngineReader({ path: bed.at('store') })
    const keys = new Set<string>()
    for (let version = 19_980n; version < 20_000n; version++) {
      for (const { key } of engine.at(version).scan(new Uint8Array(0))) keys.add(Buffer.from(key).toString('hex'))
    }
    const readable = [...keys].flatMap((key) =>
      [...engine.history(Buffer.from(key, 'hex'))].filter(({ version }) => version > 19_980n),
    )
    expect(Number(entries)).toBe(readable.length)
    await engine.close()
    const before = JSON.parse(bed.run('info', '--data-dir', 'store', '--json').stdout)
    expect(before).toMatchObject({ oldest_ledger_version: '19980', history_entries: readable.length })
    expect(bed.run('info', '--data-dir', 'store').stdout).toMatch(new RegExp(`reclaimable +${size}`))
    expect(bed.run('snapshot', 'copy', '--data-dir', 'store', '--compact').status).toBe(0)
    const after = JSON.parse(bed.run('info', '--data-dir', 'copy', '--json').stdout)
    expect(after).toMatchObject({ oldest_ledger_version: '19980', history_entries: readable.length })
    expect(after.file_bytes).toBeLessThan(before.file_bytes - before.reclaimable_bytes / 2)
    expect(bed.run('check', '--data-dir', 'copy').status).toBe(0)
  })
})

describe('check and snapshot', () => {
  it('prove a store sound and copy it, even while another process has it open for writing', async () => {
    await bed.fill('store', 100, { retain: 35n })
    const engine = openStateEngine({ path: bed.at('store') })
    expect(bed.run('check', '--data-dir', 'store')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(
        /^sound: [\d,]+ records\n +versions +60 to 99\n +blocks +4\n +segment files +\d+ keys/,
      ),
    })
    for (const options of isSlowRun ? [[], ['--compact']] : [[]]) {
      rmSync(bed.at('copy'), { recursive: true, force: true })
      const { status, stdout } = bed.run('snapshot', 'copy', '--data-dir', 'store', ...options)
      expect([status, stdout]).toEqual([0, 'copy holds versions 60 to 99\n'])
      expect(bed.run('check', '--data-dir', 'copy').status).toBe(0)
    }
    const again = bed.run('snapshot', 'copy', '--data-dir', 'store')
    expect([again.status, again.stderr]).toEqual([
      1,
      'ledger-state: copy already holds a store: name another folder or database for the copy\n',
    ])
    await engine.close()
    await bed.fill('copy', 110)
  })

  it('find a store damaged, and say so in one line after the problems', async () => {
    await bed.fill('store', 2_000)
    // Damages the first block of each segment file, which lies behind the pages of LMDB and the header.
    for (const name of readdirSync(bed.at('store'))) {
      if (!name.startsWith('segment-')) continue
      const file = bed.at(`store/${name}`)
      const bytes = readFileSync(file)
      bytes[12_500]! ^= 0xff
      writeFileSync(file, bytes)
    }
    const { status, stdout, stderr } = bed.run('check', '--data-dir', 'store')
    expect(stdout.split('\n').length).toBeGreaterThan(3)
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^ledger-state: .*damaged.*\n$/)])
    expect(stderr).not.toMatch(/MDB_/)

    const asJson = bed.run('check', '--data-dir', 'store', '--json')
    expect([asJson.status, asJson.stderr]).toEqual([status, stderr])
    expect(JSON.parse(asJson.stdout).problems).toEqual(stdout.split('\n').slice(0, -5))
  })

  it('print the result of a check as JSON', async () => {
    await bed.fill('store', 100, { retain: 35n })
    const { status, stdout, stderr } = bed.run('check', '--data-dir', 'store', '--json')
    expect([status, stderr]).toEqual([0, ''])
    const text = bed.run('check', '--data-dir', 'store').stdout
    const report = JSON.parse(stdout)
    const versions = { oldest_ledger_version: '60', ledger_version: '99' }
    expect(report).toMatchObject({ problems: [], ...versions, blocks: 4, unreadable_bytes: 0 })
    expect(text).toContain(`sound: ${report.records.toLocaleString('en')} records\n`)
    expect(text).toContain(`${report.keys} keys, ${report.superseded_entries} superseded values\n`)
    const refused = bed.run('check', '--data-dir', 'store', '--json', '--holdings')
    expect([refused.status, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toContain('--json prints the counts of a whole store; it cannot be combined with --holdings')
  })

  it.runIf(isSlowRun)('say of a file that is cut short how much of it is there, as every command does', async () => {
    await bed.fill('store', 500)
    const bytes = readFileSync(bed.at(`store/${STORE_FILE}`))
    for (const length of [0, 50, 16_000, 20_000]) {
      writeFileSync(bed.at(`store/${STORE_FILE}`), bytes.subarray(0, length))
      const commands = [['check'], ['info'], ['serve', '--listen', '127.0.0.1:0'], ['snapshot', 'copy']]
      for (const { status, stderr } of await bed.runAll(commands.map((words) => [...words, '--data-dir', 'store']))) {
        expect([status, stderr]).toEqual([
          1,
          expect.stringMatching(new RegExp(`^ledger-state: .*the file is cut short: ${length} of \\d+ bytes.*\n$`)),
        ])
      }
    }
  })

  it('show on a terminal how far they are', async () => {
    await bed.fill('store', 1_000)
    expect(onTerminal('snapshot', 'copy', '--data-dir', 'store')).toMatch(
      /copying: [\d.]+ (B|KiB|MiB) of [\d.]+ KiB, [\d.]+ %.*copy holds versions 0 to 999/s,
    )
  })
})

describe('export', () => {
  it.runIf(isSlowRun)('shows on a terminal how far it is', async () => {
    await bed.fill('store', 1_000)
    const shown = onTerminal('export', 'copy.ndjson', '--data-dir', 'store', '--from', '500')
    expect(shown).toMatch(/exporting the state: \d+ of at most 99 entries, .*, [\d.]+ %/)
    expect(shown).toMatch(/copy.ndjson holds the state at version 500 \(\d+ entries\) and the 499 versions after it/)
  })

  it.runIf(isSlowRun)('says why it cannot write to the place, and leaves nothing there', async () => {
    await bed.fill('store', 100)
    const refused = (file: string) => {
      const { status, stderr } = bed.run('export', file, '--data-dir', 'store')
      expect(status).toBe(1)
      return stderr
    }
    expect(refused('absent/file')).toBe(
      `ledger-state: absent/file cannot be written: there is no folder ${bed.at('absent')}\n`,
    )
    expect(refused('feed.ndjson/file')).toContain(`${bed.at('feed.ndjson')} is not a folder`)
    mkdirSync(bed.at('folder'))
    expect(refused('folder')).toContain('folder cannot be written: it is a folder')
    expect(readdirSync(bed.folder).sort()).toEqual(['feed.ndjson', 'folder', 'store'])
  })
})

describe.runIf(isSlowRun && canBecomeNobody)('a folder without permission', () => {
  it('is named as such, and not as a missing store', async () => {
    await bed.fill('store', 10)
    chmodSync(bed.folder, 0o755)
    chmodSync(bed.at('store'), 0o700)
    const asOther = (...words: string[]) => bed.runWith({ prefix: asNobody() }, ...words)
    for (const words of [['info'], ['check'], ['serve', '--create'], ['prune', '--retain', '5']]) {
      const { status, stderr } = asOther(...words, '--data-dir', bed.at('store'))
      expect([status, stderr]).toEqual([1, expect.stringMatching(/this process cannot read \S+store: EACCES/)])
    }
    const exported = bed.runWith({ prefix: asNobody() }, 'export', bed.at('x'), '--data-dir', bed.at('store'))
    expect(exported.stderr).toMatch(/this process cannot read/)
    chmodSync(bed.at('store'), 0o755)
    expect(asOther('info', '--data-dir', bed.at('store')).status).toBe(0)
    expect(asOther('export', bed.at('x'), '--data-dir', bed.at('store')).stderr).toContain(
      `this process may not write into ${bed.folder}`,
    )
  })
})
