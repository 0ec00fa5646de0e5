import './fence-list.test.js'
