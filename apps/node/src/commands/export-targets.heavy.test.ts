// Targets that are no plain files: links are followed, and pipes and devices are written to and stay in place.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { PROGRAM } from '../../testing/program.ts'

let bed: CommandBed
let whole: string
beforeEach(async () => {
  bed = new CommandBed()
  await bed.fill('store', 100)
  await exported('whole')
  whole = readFileSync(bed.at('whole'), 'utf8')
})
afterEach(() => bed.close())

async function exported(file: string): Promise<string> {
  const { status, stderr } = await bed.start('export', file, '--data-dir', 'store').outcome()
  expect([status, stderr]).toEqual([0, expect.stringContaining(`${file} holds the state`)])
  return stderr
}

const namesIn = (folder: string) => readdirSync(bed.at(folder)).sort()

it('a link is followed, and stays a link: to a file, to a further link, to nothing yet', async () => {
  mkdirSync(bed.at('elsewhere'))
  writeFileSync(bed.at('elsewhere/real'), 'old')
  chmodSync(bed.at('elsewhere/real'), 0o640)
  symlinkSync('elsewhere/real', bed.at('link'))
  symlinkSync(bed.at('link'), bed.at('second'))
  symlinkSync('elsewhere/new', bed.at('dangling'))
  symlinkSync('elsewhere', bed.at('folder'))
  for (const [name, file] of [
    ['link', 'real'],
    ['second', 'real'],
    ['dangling', 'new'],
    ['folder/real', 'real'],
  ] as const) {
    writeFileSync(bed.at('elsewhere/real'), 'old')
    await exported(name)
    expect(readFileSync(bed.at(`elsewhere/${file}`), 'utf8')).toBe(whole)
  }
  expect(['link', 'second', 'dangling', 'folder'].map((name) => readlinkSync(bed.at(name)))).toEqual([
    'elsewhere/real',
    bed.at('link'),
    'elsewhere/new',
    'elsewhere',
  ])
  expect(namesIn('elsewhere')).toEqual(['new', 'real'])
  expect(statSync(bed.at('elsewhere/real')).mode & 0o777).toBe(0o640)
})

it('links that lead in a circle are refused', async () => {
  symlinkSync('b', bed.at('a'))
  symlinkSync('a', bed.at('b'))
  const { status, stderr } = await bed.start('export', 'a', '--data-dir', 'store').outcome()
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^ledger-state: a cannot be written: .*ELOOP.*\n$/)])
})

/** Runs a line of a shell, in which `$P` is the program. */
function shell(line: string) {
  const env = { ...process.env, P: `${process.execPath} ${PROGRAM}` }
  const options = { cwd: bed.folder, env, encoding: 'utf8', maxBuffer: 2 ** 28 } as const
  return spawnSync('bash', ['-c', line], options)
}

it('a pipe gets the export, whoever comes first, and stays a pipe', () => {
  expect(shell('mkfifo pipe').status).toBe(0)
  const late = shell('$P export pipe --data-dir store & sleep .3; cat pipe; wait $!')
  expect([late.status, late.stdout]).toEqual([0, whole])
  const early = shell('cat pipe & $P export pipe --data-dir store; wait $!')
  expect([early.status, early.stdout]).toEqual([0, whole])
  symlinkSync('pipe', bed.at('to-pipe'))
  expect(shell('cat pipe & $P export to-pipe --data-dir store; wait $!').stdout).toBe(whole)
  expect(lstatSync(bed.at('pipe')).isFIFO()).toBe(true)
  expect(lstatSync(bed.at('to-pipe')).isSymbolicLink()).toBe(true)
})

it('SIGTERM ends an export to a pipe that nobody reads', async () => {
  expect(shell('mkfifo pipe').status).toBe(0)
  const waiting = bed.start('export', 'pipe', '--data-dir', 'store')
  const descriptors = `/proc/${waiting.child.pid}/fd`
  await eventually(
    () => readdirSync(descriptors).some((fd) => /state\.mdb$/.test(readlinkSync(`${descriptors}/${fd}`))),
    () => `the store to be open: ${waiting.output}`,
  )
  expect(await waiting.stop()).toBe(143)
  expect(waiting.output).toMatch(/stopped by SIGTERM: pipe is not written/)
})

it('a reader that leaves a pipe before the end is an error', async () => {
  // More than a pipe holds.
  await bed.fill('large', 3_000)
  expect(shell('mkfifo pipe').status).toBe(0)
  const { status, stderr } = shell('head -c 1 pipe > /dev/null & $P export pipe --data-dir large')
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^ledger-state: pipe cannot be written: [^\n]+\n$/)])
})

it('a device and the standard output are written to', () => {
  expect(shell('$P export /dev/null --data-dir store').status).toBe(0)
  expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true)
  expect(shell('$P export /dev/full --data-dir store').stderr).toMatch(
    /^ledger-state: \/dev\/full cannot be written: the disk is full/,
  )
  expect(shell('$P export /dev/stdout --data-dir store').stdout).toBe(whole)
  expect(shell('$P export /dev/stdout --data-dir store | cat').stdout).toBe(whole)
  expect(shell('$P export - --data-dir store | cat').stdout).toBe(whole)
  expect(shell('echo before > log; $P export /dev/fd/1 --data-dir store >> log').status).toBe(0)
  expect(readFileSync(bed.at('log'), 'utf8')).toBe(`before\n${whole}`)
  expect(namesIn('.').filter((name) => name.includes('unfinished'))).toEqual([])
})

it('a file of a store is not replaced, whatever leads to it', () => {
  symlinkSync('store/state.mdb', bed.at('link'))
  for (const file of ['store/state.mdb', 'store/writer.lock', 'store/segment-0', 'store/write-ahead-9', 'link']) {
    const { status, stderr } = bed.run('export', file, '--data-dir', 'store')
    const why = 'it is a file of a store'
    expect([status, stderr]).toEqual([1, `ledger-state: ${file} cannot be written: ${why}\n`])
  }
  expect(bed.run('check', '--data-dir', 'store')).toMatchObject({ status: 0 })
})

it('a file where a folder is needed, and the standard output for a folder, are refused in one line', () => {
  writeFileSync(bed.at('file'), '')
  const isFile = (path: string) => `the folder ${path} cannot be created: ${bed.at('file')} is not a folder`
  for (const [words, why] of [
    [['export', 'file', '--format', 'parquet'], isFile('file')],
    [['export', 'file/x', '--format', 'parquet'], isFile('file/x')],
    [['export', '-', '--format', 'parquet'], '--format parquet writes a folder of files: name a folder instead of -'],
    [['segments', 'push', 'file'], isFile('file')],
  ] as const) {
    const { status, stderr } = bed.run(...words, '--data-dir', 'store')
    expect([status, stderr]).toEqual([2, `ledger-state: ${why}\n`])
  }
})
