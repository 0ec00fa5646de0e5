import './database.test.js'
