// Arguments: a folder with a store, and a key. Prints the value of the key, or the code of the error.
import { openStateEngineReader } from '../src/open-state-engine.ts'

const [path, key] = process.argv.slice(2) as [string, string]
let said: string
try {
  said = Buffer.from(openStateEngineReader({ path }).at().get(Buffer.from(key))!).toString()
} catch (error) {
  said = (error as { readonly code: string }).code
}
process.stdout.write(said, () => process.exit())
