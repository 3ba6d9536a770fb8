// A plain script inside the dashboard's page (lib/http/dashboard-client.js puts it there). It loads the pages' code beside the
// dashboard's client, and loads everything again where the network failed meanwhile: a screen on a wall has nobody who does.
(() => {
  const RETRY_MS = 2000;
  const HTML_ROOT = 'app';
  let retrying = false;

  function loadAgain() {
    if (retrying) return;
    retrying = true;
    setInterval(() => {
      fetch(location.href, { method: 'HEAD' }).then(({ ok }) => { if (ok) location.reload(); }, () => undefined);
    }, RETRY_MS);
  }

  /** Afterwards errors are the business of the client and the pages. */
  const clientStarted = () => document.getElementById(HTML_ROOT)?.hasChildNodes() ?? false;
  window.addEventListener('error', ({ target }) => {
    if (target !== window && !clientStarted()) loadAgain(); // a file of the client
  }, true);
  window.addEventListener('unhandledrejection', () => {
    if (!clientStarted()) loadAgain(); // its first request
  });
  import('/pages/resources/sda-dashboard/page.js').catch(loadAgain);
})();
