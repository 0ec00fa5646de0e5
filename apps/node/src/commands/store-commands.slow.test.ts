import './store-commands.test.js'
