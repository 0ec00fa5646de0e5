// Arguments: a folder with a store, and a number. Opens the store for reading and closes it, this many times.
import { openLmdbStore } from '../src/lmdb/lmdb-store.js'

const [path, times] = process.argv.slice(2)

for (let opened = 0; opened < Number(times); opened++) {
  await openLmdbStore({ path: path!, readOnly: true }).root.close()
}
