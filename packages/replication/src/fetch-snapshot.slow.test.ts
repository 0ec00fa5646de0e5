import './fetch-snapshot.test.js'
