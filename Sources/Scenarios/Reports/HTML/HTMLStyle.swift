/// The report's own style and script: nothing is fetched from anywhere.
enum HTMLStyle {
  static let css = """
    :root{color-scheme:light dark;--bg:#fff;--card:#f6f7f9;--line:#d9dde3;--text:#1c2024;
    --dim:#5f6873;--ok:#1a7f45;--bad:#c62f2b;--warn:#a76300;--info:#2f6fc4;--off:#8b95a1;
    --offband:#c9ced6;--wifi:#bfe3cd;--cell:#c5d9f3;--captive:#f3d9a8;--area:#2f6fc433;
    --trouble:#f5cdb0;--mark:#ffe38a}
    @media(prefers-color-scheme:dark){:root{--bg:#15181c;--card:#1e2227;--line:#363c44;
    --text:#e6e9ed;--dim:#9aa4b0;--ok:#4cc27f;--bad:#ff6b63;--warn:#e5a13a;--info:#6ea8f5;
    --off:#77818d;--offband:#3d444d;--wifi:#1f4a33;--cell:#223f63;--captive:#5c4517;
    --area:#6ea8f533;--trouble:#6b3a1c;--mark:#6b5410}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,sans-serif}
    main{max-width:1120px;margin:0 auto;padding:24px 20px 80px}
    h1{font-size:24px;margin:0 0 4px}h2{font-size:18px;margin:36px 0 12px}
    h3{font-size:16px;margin:0}p{margin:4px 0}.dim{color:var(--dim)}
    code,pre{font:13px/1.45 ui-monospace,Menlo,Consolas,monospace}
    pre{margin:8px 0;padding:10px 12px;background:var(--bg);border:1px solid var(--line);
    border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}
    mark{background:var(--mark);color:inherit;border-radius:2px}
    .pill{display:inline-block;padding:1px 9px;border-radius:10px;font-size:13px;font-weight:600;
    border:1px solid currentColor;text-decoration:none;white-space:nowrap}
    .pass{color:var(--ok)}.fail,.runnerFailed,.unavailable{color:var(--bad)}
    .unknown{color:var(--warn)}.skipped{color:var(--off)}
    .counts{display:flex;gap:8px;flex-wrap:wrap;margin:12px 0}
    .card,details{background:var(--card);border:1px solid var(--line);border-radius:8px;
    padding:14px 16px;margin:12px 0}
    .card.fail,.card.runnerFailed,.card.unavailable{border-left:4px solid var(--bad)}
    .card.unknown{border-left:4px solid var(--warn)}.card{color:var(--text)!important}
    .head{display:flex;gap:10px;align-items:center;flex-wrap:wrap}
    details>summary{cursor:pointer;display:flex;gap:10px;align-items:center;flex-wrap:wrap}
    details{padding:8px 14px;content-visibility:auto;contain-intrinsic-size:auto 44px}
    ul.checks{list-style:none;padding:0;margin:8px 0}ul.checks li{margin:2px 0}
    table{border-collapse:collapse;width:100%;font-size:14px}
    th{text-align:left;color:var(--dim);font-weight:600}
    th,td{padding:5px 10px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
    td:first-child{width:30%;overflow-wrap:anywhere}
    td div{display:inline-block;min-width:246px;margin:0 0 2px}
    td .figures{color:var(--dim);font-size:12px;margin-left:6px;white-space:nowrap}
    input[type=search]{font:inherit;padding:6px 10px;width:min(360px,100%);color:var(--text);
    background:var(--bg);border:1px solid var(--line);border-radius:6px}
    a{color:var(--info)}
    svg{display:block;width:100%;height:auto;margin:8px 0;overflow:visible}
    svg.flow{max-width:560px;min-width:480px}svg.timeline{min-width:880px}
    .scroll{overflow-x:auto}
    svg text{font:12px system-ui,sans-serif;fill:var(--text)}
    svg .row{text-anchor:end;fill:var(--dim)}svg .small{font-size:11px}svg .time{fill:var(--dim)}
    .band{fill:var(--wifi)}.band.cellular,.band.expensive{fill:var(--cell)}
    .band.offline,.band.lying,.band.hidden{fill:var(--offband)}.band.captive{fill:var(--captive)}
    .band.other{fill:var(--line)}.band.away{fill:var(--offband)}.band.trouble{fill:var(--trouble)}
    .mark path,.mark circle{fill:var(--dim);stroke:none}
    .mark.kill path{fill:none;stroke:var(--bad);stroke-width:2.5}
    .line{stroke:var(--bad);stroke-dasharray:3 3;opacity:.6}.line.failed{stroke-dasharray:none}
    .mark.failed path{fill:var(--bad)}svg .word{font-size:11px;fill:var(--dim)}
    svg .word.failed{fill:var(--bad);font-weight:600}svg .word.kill{fill:var(--bad)}
    svg .word.fault{fill:var(--warn)}svg .status{font-size:11px}
    .word,.status{paint-order:stroke;stroke:var(--card);stroke-width:3px;stroke-linejoin:round}
    .mark.start path{fill:var(--ok)}.mark.fault path{fill:var(--warn)}
    .mark.trigger path{fill:var(--info)}
    .request{stroke:var(--card);stroke-width:1}.request.ok{fill:var(--ok)}
    .request.later{fill:var(--warn)}.request.refused,.request.lost{fill:var(--bad)}
    .request.lost{fill:var(--card);stroke:var(--bad);stroke-width:2}.request.other{fill:var(--off)}
    .depth,path.memory{fill:var(--area);stroke:var(--info)}
    path.memory{fill:var(--trouble);stroke:var(--warn)}svg text.memory{fill:var(--warn)}
    .tick{stroke:var(--line);fill:none}.source{fill:var(--info)}
    .ribbon{opacity:.28}.stored{fill:var(--ok)}.queued{fill:var(--info)}
    .quarantined{fill:var(--warn)}.dropped{fill:var(--off)}.missing{fill:var(--bad)}
    .legend{display:flex;gap:2px 16px;flex-wrap:wrap;font-size:13px;color:var(--dim)}
    .legend span{display:flex;align-items:center;gap:5px}.legend svg{width:16px;margin:0}
    @media(max-width:600px){main{padding:16px 10px 60px}.card,details{padding:10px}
    td:first-child{width:auto}td div{min-width:0;display:block}
    td .figures{white-space:normal}}
    """

  static let script = """
    const box=document.getElementById('filter');
    box.addEventListener('input',()=>{const words=box.value.toLowerCase().split(/\\s+/);
    for(const row of document.querySelectorAll('[data-find]')){
    row.hidden=!words.every(word=>row.dataset.find.includes(word))}});
    const open=()=>{const at=document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if(at&&at.tagName==='DETAILS'){at.open=true;at.scrollIntoView()}};
    addEventListener('hashchange',open);open();
    """
}
