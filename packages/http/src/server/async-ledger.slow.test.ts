import './async-ledger.test.js'
