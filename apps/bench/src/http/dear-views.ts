import { type AssemblyLine, assembleModule, type SignatureToken } from '@ledger-state/move-module'
import type { DEAR_VIEWS } from '@ledger-state/testing/hostile-clients'

const u64 = { kind: 'u64' } as const
const numbers: SignatureToken = { kind: 'vector', element: u64 }

/** Locals of the loops, by index. */
const LOCAL = { index: 0, own: 1 } as const

/** Runs the body a number of times; the result is that number. */
function loop(count: number, before: AssemblyLine[], body: AssemblyLine[]): AssemblyLine[] {
  return [
    ['ld_u64', 0],
    ['st_loc', LOCAL.index],
    ...before,
    { label: 'top' },
    ...([['copy_loc', LOCAL.index], ['ld_u64', count], ['lt'], ['br_false', 'end']] as const),
    ...body,
    ...([['move_loc', LOCAL.index], ['ld_u64', 1], ['add'], ['st_loc', LOCAL.index], ['branch', 'top']] as const),
    { label: 'end' },
    ...([['move_loc', LOCAL.index], ['ret']] as const),
  ]
}

const view = (name: (typeof DEAR_VIEWS)[number], own: SignatureToken, code: AssemblyLine[]) => ({
  name,
  isView: true,
  parameters: [],
  results: [u64],
  locals: [u64, own],
  code,
})

/**
 * The module `0x42::dear`, with the most expensive views that fit the default budget: 5,000,000 instructions and 64 MiB
 * copied.
 */
export function dearViewModule(): Uint8Array {
  const longVector: AssemblyLine[] = [
    ['vec_pack', u64, 0],
    ['st_loc', LOCAL.own],
    { label: 'fill' },
    ...([['copy_loc', LOCAL.index], ['ld_u64', VECTOR_LENGTH], ['lt'], ['br_false', 'filled']] as const),
    ...([
      ['mut_borrow_loc', LOCAL.own],
      ['copy_loc', LOCAL.index],
      ['vec_push_back', u64],
    ] as const),
    ...([['move_loc', LOCAL.index], ['ld_u64', 1], ['add'], ['st_loc', LOCAL.index], ['branch', 'fill']] as const),
    { label: 'filled' },
    ...([
      ['ld_u64', 0],
      ['st_loc', LOCAL.index],
    ] as const),
  ]
  return assembleModule({
    name: 'dear',
    functions: [
      view('instructions', u64, loop(540_000, [], [])),
      view('copies', numbers, loop(COPIES, longVector, [['copy_loc', LOCAL.own], ['pop']])),
      view(
        'wide',
        { kind: 'u256' },
        loop(
          300_000,
          [
            ['ld_u256', 0],
            ['st_loc', LOCAL.own],
          ],
          [
            ['copy_loc', LOCAL.index],
            ['cast_u256'],
            ['copy_loc', LOCAL.index],
            ['cast_u256'],
            ['mul'],
            ['st_loc', LOCAL.own],
          ],
        ),
      ),
    ],
  })
}

const VECTOR_LENGTH = 200_000
/** Number of copies; each counts 1.6 MB. */
const COPIES = 38
