import type { Command } from '../config/command.js'
import { configurationSchema, environmentName } from '../config/configuration.js'
import { switchOption } from '../config/option.js'
import { settings } from '../config/settings.js'
import { usageError } from '../errors.js'

const printOption = switchOption('print', 'print the value of every setting, as a configuration file')
const schemaOption = switchOption('schema', 'print the JSON Schema of a configuration file, for editors')

export const configCommand: Command = {
  name: 'config',
  summary: 'Prints the value of every setting, or the schema of a configuration file.',
  details: `A setting can be an option (--retain 1000), an environment variable
(${environmentName(settings.retain)}=1000) or a member of the JSON file ({"retain": 1000}) that --config or LEDGER_STATE_CONFIG names.
Options take precedence over variables, and variables over the file. Unknown names and bad values are refused.`,
  arguments: [],
  options: [printOption, schemaOption, ...Object.values(settings)],
  examples: ['ledger-state config --print --config node.json', 'ledger-state config --schema > node.schema.json'],
  async run(input) {
    if (input.get(printOption) === input.get(schemaOption))
      throw usageError('config: expected either --print or --schema')
    const shown = input.get(printOption) ? input.effective() : configurationSchema()
    process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`)
  },
}
