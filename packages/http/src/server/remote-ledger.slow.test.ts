import './remote-ledger.test.js'
