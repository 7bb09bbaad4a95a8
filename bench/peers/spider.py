#!/usr/bin/python3
"""Crawls a site with Scrapy, on its host, as examples/crawl.lua does: spider.py URL AT_ONCE"""

import sys

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class Site(CrawlSpider):
    name = "site"
    start_urls = [sys.argv[1]]
    allowed_domains = ["127.0.0.1"]
    rules = [Rule(LinkExtractor(), follow=True)]


process = CrawlerProcess(
    {"CONCURRENT_REQUESTS": int(sys.argv[2]), "CONCURRENT_REQUESTS_PER_DOMAIN": int(sys.argv[2]), "LOG_LEVEL": "ERROR"}
)
process.crawl(Site)
process.start()
