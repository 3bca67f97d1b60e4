/** @file How the sites' pages look in a frame: constant, because its hash stands in the page's policy (vite.config.ts). */
export const PAGE_STYLE =
  'body{font:15px/1.45 system-ui,sans-serif;margin:0;color:#1d2733;background:#fff}header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;' +
  'align-items:center;padding:.6rem 1rem;background:#e9eef3}header nav{display:flex;flex-wrap:wrap;gap:.3rem .9rem}form{margin:.3rem 0}' +
  'main{padding:.6rem 1rem}a{color:#0b57a4;text-decoration:underline;cursor:pointer}table{border-collapse:collapse}td,th{border:1px solid #c5ced8;' +
  'padding:.2rem .5rem;text-align:left}label{margin-right:.4rem}.brand{font-weight:700}.notice,[role=alert]{background:#fff4cf;padding:.3rem .6rem}' +
  'dt{font-weight:600}[data-marked]{outline:3px solid #d9480f}';
