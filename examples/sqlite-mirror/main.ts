import { mirrorTable } from './mirror.ts'

const [node, path, table] = process.argv.slice(2)
if (node === undefined) {
  const { runDemonstration } = await import('./demonstration.ts')
  await runDemonstration()
} else if (path === undefined || table === undefined) throw new Error('expected NODE DATABASE TABLE')
else await mirrorTable(`${node}/v1/stream?table=${table}`, path)
