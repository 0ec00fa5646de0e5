// A bucket over the folder of a backup, behind a link, in a separate process. Arguments: the folder, milliseconds of a
// round trip, bytes a second that the link carries (0: unlimited). Sends its port to its parent.
import { startBucketServer } from '@ledger-state/feed/testing/bucket-server'
import { startShapedLink } from './shaped-link.ts'

const [folder, ...numbers] = process.argv.slice(2) as [string, ...string[]]
const [roundTripMs, bytesPerSecond] = numbers.map(Number) as [number, number]
const { origin, url } = await startBucketServer(folder, { isConstant: true })
// A bucket knows the ETags of its objects; this server hashes all objects when it first lists them.
await (await fetch(url)).text()
const link = await startShapedLink(Number(new URL(origin).port), {
  roundTripMs,
  bytesPerSecond: bytesPerSecond || undefined,
})
process.on('disconnect', () => process.exit())
process.send!(link.port)
