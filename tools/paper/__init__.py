"""What is printed or drawn ahead: the PDF, the fonts, the previews of links."""
