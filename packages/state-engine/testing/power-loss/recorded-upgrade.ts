// Upgrades a store of layout 3.
import { upgradeStore } from '../../src/index.js'

const [path, from] = process.argv.slice(2) as [string, string]
await upgradeStore(from, path)
process.stdout.write('upgraded\n')
