import type { Command } from '../config/command.js'
import { settings } from '../config/settings.js'
import { createDatabaseStore } from '../stores/open-database.js'
import { nameOfPlace } from '../stores/store-place.js'

export const storeCreateCommand: Command = {
  name: 'store create',
  goesOn: true,
  summary: 'Creates the tables of a store on PostgreSQL if there are none.',
  details: `A writer also does this when it opens the store. With this command, the owner of the database can create the tables for a writer with fewer
rights. A store with another layout is refused.`,
  arguments: [],
  options: [settings.store],
  required: [settings.store],
  examples: ['ledger-state store create --store postgres://owner@db.example/ledger'],
  async run(input) {
    const url = input.required(settings.store)
    await createDatabaseStore(url)
    process.stdout.write(`${nameOfPlace({ kind: 'database', url })} has the tables of this program\n`)
  },
}
