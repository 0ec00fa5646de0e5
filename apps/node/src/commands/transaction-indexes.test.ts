// The option --transaction-indexes of ingest.
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
  writeBackup(new SyntheticChain({ blocks: 3 }), bed.at('backup'))
})
afterEach(async () => {
  await bed.close()
})

const ingest = (...options: string[]) => bed.run('ingest', 'backup', '--data-dir', 'store', '--unsigned', ...options)

describe('ingest --transaction-indexes', () => {
  it('keeps the indexes that it names; info says which are left out, and later ingests keep to them', () => {
    expect(ingest('--transaction-indexes', 'hash,event-type').status).toBe(0)
    const { stdout } = bed.run('info', '--data-dir', 'store')
    expect(stdout).toMatch(/^ *transactions +whole, kept, without indexes: sender, affected, event-key$/m)
    const facts = JSON.parse(bed.run('info', '--data-dir', 'store', '--json').stdout)
    expect(facts.transaction_indexes).toEqual(['hash', 'event-type'])
    expect(ingest().status).toBe(0)
    expect(ingest('--transaction-indexes', 'hash')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the store has these indexes of transactions: hash, event-type; it keeps them'),
    })
  })

  it('may name none', () => {
    expect(ingest('--transaction-indexes', 'none').status).toBe(0)
    const facts = JSON.parse(bed.run('info', '--data-dir', 'store', '--json').stdout)
    expect(facts.transaction_indexes).toEqual([])
  })

  it('is refused for summaries, for a range, and for an unknown name', () => {
    for (const [words, why] of [
      [['hash', '--keep-transactions', 'summary'], '--transaction-indexes needs whole transactions'],
      [['hash', '--range', '0-5'], 'a range has all indexes of transactions: they cannot be chosen for it'],
      [['hash,senders'], '"senders" is not one of hash, sender, affected, event-key, event-type'],
    ] as const) {
      const { status, stderr } = ingest('--transaction-indexes', ...words)
      expect(status).not.toBe(0)
      expect(stderr).toContain(why)
    }
  })
})
