import './ledger-feed.test.js'
