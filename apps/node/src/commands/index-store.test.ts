// The command index, with a copy that is not complete and a copy of ranges.
import { rmSync, writeFileSync } from 'node:fs'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
  writeBackup(new SyntheticChain({ blocks: 6 }), bed.at('backup'))
})
afterEach(async () => {
  await bed.close()
})

const ingest = (store: string, ...options: string[]) => bed.ingest('backup', store, '--unsigned', ...options)
const index = (copy: string, store: string) => bed.run('index', copy, '--data-dir', store)

describe('a copy that index has not completed', () => {
  it('is written by no other command: index would pass on the proofs of its store to foreign versions', () => {
    expect(ingest('plain', '--holdings', 'off').status).toBe(0)
    expect(bed.run('export', 'all.ndjson', '--data-dir', 'plain').status).toBe(0)
    expect(bed.run('ingest', 'all.ndjson', '--data-dir', 'copy', '--to', '5').status).toBe(0)
    writeFileSync(bed.at('copy/index.begun'), '')
    for (const words of [
      ['ingest', 'all.ndjson'],
      ['prune', '--retain', '2'],
      ['serve', '--retain', '2'],
      ['start', '--from', 'all.ndjson'],
    ]) {
      expect(bed.run(...words, '--data-dir', 'copy'), words.join(' ')).toEqual({
        status: 2,
        stdout: '',
        stderr:
          'ledger-state: copy is a copy that ledger-state index has not completed: run that command again to complete it; to use the store as it is, remove copy/index.begun\n',
      })
    }
    rmSync(bed.at('copy/index.begun'))
    expect(bed.run('ingest', 'all.ndjson', '--data-dir', 'copy').status).toBe(0)
  })
})

describe('a copy of ranges above version 0', () => {
  it('is resumed and extended as any other copy', () => {
    const joined = ['1-10', '11-20'].map((range) => {
      expect(ingest(range, '--range', range).status).toBe(0)
      return range
    })
    expect(bed.run('segments', 'join', ...joined, '--into', 'joined').status).toBe(0)
    const complete = { status: 0, stdout: expect.stringMatching(/^copy holds versions 1 to \d+ with the index/) }
    expect(index('copy', 'joined')).toMatchObject(complete)
    expect(index('copy', 'joined')).toMatchObject(complete)
    expect(ingest('copy')).toMatchObject({ status: 0, stderr: expect.stringMatching(/the store holds versions 1 to /) })
  })
})
