// Starts a node on a made-up ledger, and prints the parameters with which the page asks it.
import { startNode } from './demonstration.ts'

const { url, waypoint } = await startNode()
console.log(String(new URLSearchParams({ url, waypoint })))
