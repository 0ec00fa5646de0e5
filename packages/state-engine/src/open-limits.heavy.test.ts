import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasFaultyDisk } from '../testing/disk-faults/disk-faults.ts'
import { compileDiskStops, type DiskStop } from '../testing/disk-faults/disk-stops.ts'
import { bytes, CHAIN, record } from '../testing/small-records.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { STORE_FILE } from './lmdb/lmdb-store.js'
import { openStateEngine, openStateEngineReader } from './open-state-engine.js'

const folder = temporaryFolder()
const INDEX = JSON.stringify(new URL('./index.ts', import.meta.url).href)

/** Makes a store whose only key is in a segment file. */
async function fillStore(path: string): Promise<void> {
  const engine = openStateEngine({ path })
  await engine.commit([record(0, [[bytes('key'), bytes('value')]], 0)], CHAIN)
  await engine.merge()
  await engine.close()
}

/**
 * Runs a program of ours in a shell, after a command. Returns its output, or the signal that ended it.
 * @param within words of a command that runs the shell
 */
function runAfter(command: string, program: string, within: readonly string[] = []): string {
  const shell = `${command}; exec "$0" ${SOURCE_OPTIONS.join(' ')} --input-type=module -e "$1"`
  const [file, ...words] = [...within, 'bash', '-c', shell, process.execPath, program]
  const { stdout, stderr, signal } = spawnSync(file!, words, { encoding: 'utf8' })
  return signal ?? (stdout.trim() || stderr)
}

/** Whether this process may mount overlays. */
function mayMount(): boolean {
  const words = ['--mount', 'mount', '-t', 'overlay', 'overlay', '-o', 'lowerdir=/usr:/etc', '/mnt']
  return process.platform === 'linux' && spawnSync('unshare', words).status === 0
}

describe.skipIf(process.platform !== 'linux')('a process with too few resources for LMDB (Linux)', () => {
  it.for([0, 1, 2, 3])('refuses to open a store with %d free file descriptors', async (free) => {
    await openStateEngine({ path: folder.path }).close()
    const said = runAfter(
      'true',
      `import { execFileSync } from 'node:child_process'
      import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
      const { openStateEngineReader } = await import(${INDEX})
      // Loading the sources takes descriptors, and so does whatever started this process.
      const most = Math.max(...readdirSync('/proc/self/fd').map(Number)) + 50
      execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=' + most])
      const open = () => openStateEngineReader({ path: ${JSON.stringify(folder.path)} })
      await open().close()
      const taken = []
      try { for (;;) taken.push(openSync('/dev/null')) } catch {}
      for (let at = 0; at < ${free}; at++) closeSync(taken.pop())
      const codes = new Set()
      for (let tries = 0; tries < 20; tries++) try { open(); codes.add('opened') } catch (error) { codes.add(error.code) }
      writeSync(1, [...codes].join())`,
    )
    expect(said).toBe('store_failed')
  })

  it.for([
    ['openStateEngineReader', '', 'store_failed'],
    ['openStateEngine', '', 'store_failed'],
    // Further openers of the process share the map of the first.
    ['openStateEngineReader', 'mapBytes: 2 ** 30', 'opened,opened'],
    ['openStateEngine', 'mapBytes: 2 ** 30', 'opened,opened'],
  ] as const)('says that the address space is too small: %s, %s', async ([open, option, expected]) => {
    await openStateEngine({ path: folder.path }).close()
    const program = `const engine = await import(${INDEX})
      const path = ${JSON.stringify(folder.path)}
      const said = []
      const attempt = (open) => {
        try { open({ path, ${option} }); said.push('opened') } catch (error) { said.push(error.code) }
      }
      attempt(engine.${open})
      if (${option !== ''}) attempt(engine.openStateEngineReader)
      process.stdout.write(said.join(), () => process.exit())`
    expect(runAfter('ulimit -v 200000000', program)).toBe(expected)
  })

  it('reads a segment file for whose map the address space is too small', async () => {
    await fillStore(folder.path)
    const said = runAfter(
      'true',
      `import { execFileSync } from 'node:child_process'
      import { readFileSync } from 'node:fs'
      const { openStateEngineReader } = await import(${INDEX})
      const reader = openStateEngineReader({ path: ${JSON.stringify(folder.path)}, mapBytes: 2 ** 30 })
      const used = 1_024 * Number(/^VmSize:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))[1])
      // Less than is expected to be left in addition to the map.
      execFileSync('prlimit', ['--pid', String(process.pid), '--as=' + (used + 2 ** 25)])
      let said
      try { said = Buffer.from(reader.at().get(Buffer.from('key'))).toString() } catch (error) { said = error.code }
      process.stdout.write(said, () => process.exit())`,
    )
    expect(said).toBe('value')
  })

  it.skipIf(!mayMount())('maps segment files of an overlay with layers on two disks (needs root)', async () => {
    const [layers, merged] = [join(folder.path, 'layers'), join(folder.path, 'merged')]
    for (const each of [layers, merged]) mkdirSync(each)
    // A link in an overlay has the inode number of the file if the lower layer is in memory, as the folder of the tests may be.
    const lower = mkdtempSync('/var/tmp/state-engine-')
    onTestFinished(() => rmSync(lower, { recursive: true }))
    await fillStore(lower)
    const mounts = [
      `mount -t tmpfs tmpfs ${layers}`,
      `mkdir ${layers}/upper ${layers}/work`,
      `mount -t overlay overlay -o lowerdir=${lower},upperdir=${layers}/upper,workdir=${layers}/work ${merged}`,
    ]
    const said = runAfter(
      mounts.join(' && '),
      `import { readFileSync } from 'node:fs'
      const { openStateEngineReader } = await import(${INDEX})
      const reader = openStateEngineReader({ path: ${JSON.stringify(merged)} })
      const value = Buffer.from(reader.at().get(Buffer.from('key'))).toString()
      const isMapped = /segment-\\d+\\.map-/.test(readFileSync('/proc/self/maps', 'utf8'))
      process.stdout.write([value, isMapped].join(), () => process.exit())`,
      ['unshare', '--mount'],
    )
    expect(said).toBe('value,true')
  })

  it.skipIf(!hasFaultyDisk())('reads segment files on a full disk (needs gcc)', async () => {
    const [path, tools] = [join(folder.path, 'store'), join(folder.path, 'tools')]
    mkdirSync(tools)
    await fillStore(path)
    const run = compileDiskStops(tools)
    const reader = fileURLToPath(new URL('../testing/value-reader.ts', import.meta.url))
    const read = (stop?: DiskStop) => run(reader, [path, 'key'], path, stop)
    const { stdout, calls } = read()
    expect(stdout).toBe('value')
    expect(calls).toBe(12)
    // These create LMDB's lock file for the map: its draft, the content and the name.
    for (const at of [5, 6, 7]) expect(read({ how: 'full', at })).toMatchObject({ stdout: 'value', isReached: true })
    expect(readdirSync(path).filter((name) => name.includes('.map-'))).toEqual([])
  })

  it('refuses a second writer, even after the process of the first has copied the folder', async () => {
    const path = join(folder.path, 'store')
    const engine = openStateEngine({ path })
    const open = `const { openStateEngine } = await import(${INDEX})
      try { openStateEngine({ path: ${JSON.stringify(path)} }); console.log('opened') } catch (error) { console.log(error.code) }
      process.exit()`
    for (const copy of ['first', 'second']) {
      cpSync(path, join(folder.path, copy), { recursive: true })
      expect(runAfter('true', open)).toBe('store_locked')
    }
    await openStateEngine({ path: join(folder.path, 'first') }).close()
    await engine.close()
    expect(runAfter('true', open)).toBe('opened')
  })
})

describe.skipIf(process.platform !== 'linux')('a lock file that LMDB cannot open for writing (Linux)', () => {
  /** Opens a store twice for reading and for writing, as another user, to whom the modes of files apply. */
  function openAs(path: string, userId: number): string {
    return runAfter(
      'true',
      `const engine = await import(${INDEX})
      if (process.getuid() === 0) process.setuid(${userId})
      const said = []
      const attempt = async (open) => {
        try { const opened = open({ path: ${JSON.stringify(path)} }); said.push('opened'); await opened.close() }
        catch (error) { said.push(error.code) }
      }
      for (const time of [1, 2]) await attempt(engine.openStateEngineReader)
      for (const time of [1, 2]) await attempt(engine.openStateEngine)
      process.stdout.write(said.join(), () => process.exit())`,
    )
  }

  const ALL_MODES = { folder: 0o777, data: 0o666, lock: 0o666 }
  const NOBODY = 65_534

  it.for([
    [{}, 'opened', 'opened'],
    [{ lock: 0o444 }, 'opened', 'store_read_only'],
    [{ lock: 0 }, 'opened', 'store_read_only'],
    [{ lock: undefined, folder: 0o555 }, 'opened', 'store_read_only'],
    [{ lock: undefined }, 'opened', 'opened'],
    [{ data: 0o444 }, 'opened', 'store_read_only'],
  ] as const)('with the modes %o is no crash', async ([some, asReader, asWriter]) => {
    const modes: Record<keyof typeof ALL_MODES, number | undefined> = { ...ALL_MODES, ...some }
    const path = join(folder.path, 'store')
    await openStateEngine({ path }).close()
    const data = join(path, STORE_FILE)
    for (const name of readdirSync(path)) chmodSync(join(path, name), 0o666)
    chmodSync(data, modes.data!)
    if (modes.lock === undefined) rmSync(`${data}-lock`)
    else chmodSync(`${data}-lock`, modes.lock)
    for (const each of [folder.path, path]) chmodSync(each, modes.folder!)
    expect(openAs(path, NOBODY)).toBe([asReader, asReader, asWriter, asWriter].join())
    for (const each of [folder.path, path]) chmodSync(each, 0o777)
  })

  it.for([
    ['a folder', (lock: string) => mkdirSync(lock)],
    ['a link to nothing', (lock: string) => symlinkSync('/nowhere/lock', lock)],
    ['a device', (lock: string) => symlinkSync('/dev/null', lock)],
  ] as const)('as it is %s is no crash', async ([, make]) => {
    await openStateEngine({ path: folder.path }).close()
    const lock = join(folder.path, `${STORE_FILE}-lock`)
    rmSync(lock)
    make(lock)
    expect(openAs(folder.path, 0)).toBe(Array.from({ length: 4 }, () => 'store_failed').join())
  })
})

it('has the space of the lock file on disk before LMDB maps it', async () => {
  await openStateEngine({ path: folder.path }).close()
  const lock = join(folder.path, `${STORE_FILE}-lock`)
  rmSync(lock)
  const reader = openStateEngineReader({ path: folder.path })
  const { blocks, size } = statSync(lock)
  expect(blocks * 512).toBeGreaterThanOrEqual(size)
  expect(size).toBe(8_272)
  await reader.close()
})
