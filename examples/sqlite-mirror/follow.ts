import { mirrorTable } from './mirror.ts'

const [, , node, path, table] = process.argv
if (!node || !path || !table) throw new Error('usage: node follow.ts NODE DATABASE TABLE')
await mirrorTable(`${node}/v1/stream?table=${table}`, path)
