// Starts a node on a made-up ledger, and the server of the page that asks it.
import { createServer } from 'vite'
import { startNode } from './demonstration.ts'

const { url, waypoint } = await startNode()
const server = await createServer()
await server.listen()
const [address = 'http://localhost:5173/'] = server.resolvedUrls?.local ?? []
console.log(`open ${address}?${new URLSearchParams({ url, waypoint })}`)
