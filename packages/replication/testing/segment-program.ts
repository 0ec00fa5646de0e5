// Joins, pushes or fetches, for tests that stop it at any call. Prints the code of the error that ends it.
import { isLedgerStateError } from '@ledger-state/core'
import { openSharedFiles } from '@ledger-state/feed'
import { joinRanges } from '../src/ranges/join-ranges.ts'
import { fetchSegments } from '../src/segments/fetch-segments.ts'
import { pushSegments } from '../src/segments/push-segments.ts'

const [work, to, ...from] = process.argv.slice(2) as [string, string, ...string[]]
try {
  if (work === 'join') await joinRanges(from, to)
  else if (work === 'push') await pushSegments(from[0]!, to)
  else await fetchSegments(openSharedFiles(from[0]!), to)
  process.stdout.write('done')
} catch (error) {
  process.stdout.write(
    isLedgerStateError(error) ? `${error.code}: ${error.message}` : `no error of a store: ${String(error)}`,
  )
}
