import type { Command } from '../config/command.js'
import { settings } from '../config/settings.js'
import { migrateDatabase } from '../stores/open-database.js'
import { nameOfPlace } from '../stores/store-place.js'

export const storeMigrateCommand: Command = {
  name: 'store migrate',
  summary: 'Makes the tables of a store on PostgreSQL, or brings those of an older program up to date.',
  details: `A writer does so by itself when it opens the store; with this command the owner of the database does it, and a writer with fewer rights
can follow. The store of a newer program is refused. A folder is brought up to date by store upgrade.`,
  arguments: [],
  options: [settings.store],
  required: [settings.store],
  examples: ['ledger-state store migrate --store postgres://owner@db.example/ledger'],
  async run(input) {
    const url = input.required(settings.store)
    await migrateDatabase(url)
    process.stdout.write(`${nameOfPlace({ url })} has the tables of this program\n`)
  },
}
