'use strict';

// The dashboard fetches a widget's code from below Node-RED's admin root, which is closed in production. So it learns
// another root, below which lib/http/dashboard.js serves the code to who is logged in.
module.exports = function register(RED) {
  RED.plugins.registerPlugin('sda-dashboard', {
    type: 'node-red-dashboard-2',
    hooks: {
      onSetup: () => ({ RED: { httpAdminRoot: '/pages', httpNodeRoot: RED.settings.httpNodeRoot } }),
    },
  });
};
